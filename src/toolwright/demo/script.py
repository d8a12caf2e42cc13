"""What the scripted agent of the demo says and does. Only the words are written; every call is really made."""

from typing import Any

from toolwright.models.scripted import ScriptedCall, Turn

Json = dict[str, Any]

PROMPT = "The total of a basket is wrong when I add several of one thing. Find out why and mend it."

_RUN_TESTS = "python3 test_basket.py"


def turns() -> list[Turn]:
    """The conversation: look around by a subagent, see the test fail, mend, see it pass, tidy up, report."""
    return [
        _turn(
            "I'll have the project looked through first, and keep a list of what there is to do.",
            ("task", {"description": "Find the total", "prompt": _EXPLORE, "subagent_type": "explore"}),
            ("todowrite", {"todos": _todos("in_progress", "pending", "pending")}),
        ),
        _turn("", ("grep", {"pattern": "def (add|total)"}), ("read", {"filePath": "basket.py"}), match=_EXPLORE_MARK),
        _turn(
            "basket.py:10: `add` takes a count and never uses it. basket.py:13: `total` adds the prices up.",
            match=_EXPLORE_MARK,
        ),
        _turn(
            "`add` ignores its count. Let me see the tests say so.",
            ("bash", {"command": _RUN_TESTS, "description": "Run the tests"}),
            ("read", {"filePath": "basket.py"}),
        ),
        _turn(
            "Two and a half instead of seven and a half: as expected. I'll mend `add`.",
            ("edit", {"filePath": "basket.py", "oldString": _BROKEN, "newString": _MENDED}),
            ("todowrite", {"todos": _todos("completed", "completed", "in_progress")}),
        ),
        _turn(
            "Now the tests again. They write a cache, which I'd like to clear away afterwards.",
            (
                "bash",
                {"command": f"{_RUN_TESTS} && rm -rf __pycache__", "description": "Run the tests and clear the cache"},
            ),
        ),
        _turn("", ("todowrite", {"todos": _todos("completed", "completed", "completed")})),
        _turn(
            "Mended: `add` in basket.py:10 ignored its `count`, so three of a kind counted once. It now puts the price"
            " in as often as was asked, and both tests pass. Nothing else was changed."
        ),
    ]


_EXPLORE_MARK = "How is the total of a basket made"
_EXPLORE = f"{_EXPLORE_MARK}? Look quickly, and name the lines."
_BROKEN = "        self.prices.append(price)"
_MENDED = "        self.prices.extend([price] * count)"


def _todos(*states: str) -> list[Json]:
    wanted = ("Find out how the total is made", "Mend it", "Show that the tests pass")
    return [
        {"id": str(number), "content": text, "status": state, "priority": "high"}
        for number, (text, state) in enumerate(zip(wanted, states, strict=True), 1)
    ]


def _turn(text: str, *calls: tuple[str, Json], match: str = "") -> Turn:
    """One reply, for the agent itself or, where a match is given, for the subagent."""
    made: list[ScriptedCall] = [{"name": name, "args": arguments} for name, arguments in calls]
    return {"text": text, "tools": made, "match": match} if match else {"text": text, "tools": made}

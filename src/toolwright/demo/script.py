"""Script of the demo's agent. Only the words are written; every call is really made."""

from toolwright.models.scripted import ScriptedCall, ScriptedTurn
from toolwright.protocols.json_types import Json

PROMPT = "The total of a basket is wrong when I add several of one thing. Find out why and fix it."


def turns(python: str = "python3") -> list[ScriptedTurn]:
    """The conversation: look around by a subagent, see the test fail, fix it, see it pass, tidy up, report."""
    run_tests = f"{python} test_basket.py"
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
            ("bash", {"command": run_tests, "description": "Run the tests"}),
            ("read", {"filePath": "basket.py"}),
        ),
        _turn(
            "Two and a half instead of seven and a half: as expected. I'll fix `add`.",
            ("edit", {"filePath": "basket.py", "oldString": _BROKEN, "newString": _FIXED}),
            ("todowrite", {"todos": _todos("completed", "completed", "in_progress")}),
        ),
        _turn(
            "Now the tests again. They write a cache, which I'd like to clear away afterwards.",
            (
                "bash",
                {"command": f"{run_tests} && rm -rf __pycache__", "description": "Run the tests and clear the cache"},
            ),
        ),
        _turn("", ("todowrite", {"todos": _todos("completed", "completed", "completed")})),
        _turn(
            "Fixed: `add` in basket.py:10 ignored its `count`, so three of a kind counted once. It now adds the price"
            " as often as was asked, and both tests pass. Nothing else was changed."
        ),
    ]


_EXPLORE_MARK = "How is the total of a basket made"
_EXPLORE = f"{_EXPLORE_MARK}? Look quickly, and name the lines."
_BROKEN = "        self.prices.append(price)"
_FIXED = "        self.prices.extend([price] * count)"


def _todos(*states: str) -> list[Json]:
    wanted = ("Find out how the total is made", "Fix it", "Show that the tests pass")
    return [
        {"id": str(number), "content": text, "status": state, "priority": "high"}
        for number, (text, state) in enumerate(zip(wanted, states, strict=True), 1)
    ]


def _turn(text: str, *calls: tuple[str, Json], match: str = "") -> ScriptedTurn:
    """One reply, for the agent itself or, where a match is given, for the subagent."""
    tools: list[ScriptedCall] = [{"name": name, "args": arguments} for name, arguments in calls]
    return {"text": text, "tools": tools, "match": match} if match else {"text": text, "tools": tools}

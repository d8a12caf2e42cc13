"""What clients sent to the reference, recorded, is sent to us: the same methods come back, with the same fields."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.acp.harness import Editor, call, editor, never
from tests.waiting import until
from toolwright.protocols.jsonrpc import RpcError

FOLDER = Path(__file__).parent / "recorded"
TODOS = [
    {"id": "1", "content": "first thing", "status": "in_progress", "priority": "high"},
    {"id": "2", "content": "second thing", "status": "pending", "priority": "low"},
]
COLOURS = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
WRITE = call("write", filePath="new.txt", content="one\ntwo\n")
TURNS = (
    {"text": "I read first.", **call("read", filePath="a.py")},
    call("edit", filePath="a.py", oldString="hi", newString="bye"),
    {"text": "All **done**: `bye`."},
    *(
        call("bash", command="ls -la", description="Lists files"),
        call("bash", command="ls -la sub"),
        {"text": "Listed."},
    ),
    WRITE,
    *(WRITE, {"text": "Written."}),
    *(call("todowrite", todos=TODOS), {"text": "Planned."}),
    call("task", description="look around", prompt="child prompt please", subagent_type="general"),
    *({"text": "I am the child."}, {"text": "The child has spoken."}),
    call("question", questions=[{"question": "Which colour?", "header": "Colour", "options": COLOURS}]),
    *({"text": "You chose."}, {"text": "Hello from the command."}, {"text": "What is nosuch?"}),
    call("bash", command="echo start; sleep 30", description="Sleeps"),
    call("write", filePath="other.txt", content="one\n"),
    *({"text": "Plain answer."}, {"text": "Plain answer."}),
)
LEFT_OUT = {"_meta", "annotations", "cwd"}
UNREAD = {"rawInput", "metadata", "error", "availableCommands"}
"""What is ours to choose: arguments of tools, and their metadata."""

UNKNOWN_MODE = 24
"""The older version takes any name for a mode; we refuse it, as the newer one does."""


class Replay:
    """Sends the recorded lines of a client in their order, and keeps what came back."""

    def __init__(self, person: Editor, lines: list[tuple[str, Any]]) -> None:
        self.person, self.lines = person, lines
        self.sessions: dict[str, str] = {}
        """Ours for each recorded one."""
        self.answers: dict[int, Any] = {}
        self.outcomes = [
            one["result"]["outcome"] for mark, one in lines if mark == "->" and "outcome" in (one.get("result") or {})
        ]
        person.answers["session/request_permission"] = self.permit
        person.answers["fs/write_text_file"] = self.written
        person.answers["fs/read_text_file"] = self.unknown
        self.permissions: list[Any] = []
        self.writes: list[Any] = []
        self.open = False
        """A question is put that nobody answers."""
        self.cancelled = False

    async def permit(self, params: Any) -> Any:
        if params["options"][0]["optionId"].startswith("answer"):
            return {"outcome": {"outcome": "selected", "optionId": "answer:0"}}
        self.permissions.append(params)
        outcome = self.outcomes.pop(0)
        if outcome["outcome"] == "cancelled":
            self.open = True
            await never(params)
        return {"outcome": outcome}

    async def written(self, params: Any) -> Any:
        self.writes.append(params)
        return {}

    async def unknown(self, _: Any) -> Any:
        raise RpcError("Method not found", -32601)

    async def run(self) -> None:
        pending: dict[int, asyncio.Task[Any]] = {}
        for mark, one in self.lines:
            match mark:
                case "->" if "method" in one and "id" in one:
                    pending[one["id"]] = asyncio.create_task(self.send(one))
                    if one["method"] != "session/prompt":
                        await pending.pop(one["id"])
                case "->" if "method" in one:
                    if pending:
                        await until(lambda: self.open if self.cancelled else self.has_printed())
                        self.cancelled = True
                    await self.person.peer.notify(one["method"], self.translated(one["params"]))
                case "<-" if "method" not in one and one["id"] in pending:
                    await pending.pop(one["id"])
                case "##" if "timeout" in one:
                    for task in pending.values():
                        await task
                    pending.clear()

    def has_printed(self) -> bool:
        """Whether the command that is to be cancelled has begun."""
        return any("start\\n" in json.dumps(one.get("content")) for one in self.person.updates)

    async def send(self, one: Any) -> None:
        try:
            self.answers[one["id"]] = await self.person.ask(one["method"], **self.translated(one["params"]))
        except RpcError as error:
            self.answers[one["id"]] = {"error": {"code": error.code, "message": str(error)}}

    def translated(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.translated(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.translated(one) for one in value]
        if not isinstance(value, str):
            return value
        for mark, one in self.lines:
            name = (one.get("result") or {}).get("sessionId") if mark == "<-" and "result" in one else None
            if name == value and one["id"] in self.answers:
                return self.answers[one["id"]].get("sessionId", value)
        value = value.replace("/proj", str(self.person.folder))
        return "scripted/scripted" if value.startswith("fake/") else value


def read(name: str) -> list[tuple[str, Any]]:
    lines = (FOLDER / name).read_text().splitlines()
    return [(line[:2], json.loads(line[3:])) for line in lines]


def missing(recorded: Any, answered: Any, at: str = "") -> list[str]:
    """Fields that the recorded answer has and ours has not."""
    if isinstance(recorded, dict) and isinstance(answered, dict):
        lost = [f"{at}.{key}" for key in recorded if key not in answered and key not in LEFT_OUT]
        both = [key for key in recorded if key in answered and key not in UNREAD]
        return lost + [one for key in both for one in missing(recorded[key], answered[key], f"{at}.{key}")]
    if isinstance(recorded, list) and isinstance(answered, list) and recorded and answered:
        return missing(recorded[0], answered[0], f"{at}[0]")
    return []


def shapes(updates: list[Any]) -> dict[tuple[str, str, str], set[str]]:
    """The fields of each sort of update."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for one in updates:
        sort = (
            one["sessionUpdate"],
            one.get("status", ""),
            one.get("content", {}).get("type", "") if isinstance(one.get("content"), dict) else "",
        )
        found.setdefault(sort, set()).update(set(one) - LEFT_OUT)
    return found


@pytest.mark.parametrize("name", ["acp-1.1.31.txt", "acp-1.18.33.txt"])
async def test_the_recorded_lines_of_a_client_get_the_answers_they_got(tmp_path: Path, name: str) -> None:
    lines = read(name)
    config = {
        "permission": {"edit": "ask", "bash": "ask"},
        "command": {"hello": {"template": "Say hello to $ARGUMENTS.", "description": "Says hello"}},
    }
    async with editor(tmp_path / "proj", *TURNS, config=config) as person:
        (person.folder / "sub").mkdir()
        (person.folder / "README.md").write_text("read me\n")
        replay = Replay(person, lines)
        await replay.run()

        for mark, one in lines:
            if mark == "<-" and "method" not in one:
                ours = replay.answers[one["id"]]
                if "result" in one and one["id"] != UNKNOWN_MODE:
                    asked = next(line for sign, line in lines if sign == "->" and line.get("id") == one["id"])
                    assert "error" not in ours, (asked, ours)
                    lost = missing(one["result"], ours)
                    assert not [at for at in lost if at != ".sessionId"], asked
        told = [one["params"]["update"] for mark, one in lines if one.get("method") == "session/update"]
        ours, theirs = shapes(person.updates), shapes(told)
        assert set(theirs) <= set(ours)
        assert {sort: fields - ours[sort] for sort, fields in theirs.items() if fields - ours[sort]} == {}

        asked = [one["params"] for mark, one in lines if one.get("method") == "session/request_permission"]
        assert len(replay.permissions) == len(asked)
        for recorded, made in zip(asked, replay.permissions, strict=True):
            assert not missing(recorded["toolCall"], made["toolCall"])
            # A command of several parts has one option for each rule.
            offered = [(one["kind"], one["optionId"].partition(":")[0]) for one in made["options"]]
            assert list(dict.fromkeys(offered)) == [(one["kind"], one["optionId"]) for one in recorded["options"]]
        wrote = [one["params"] for mark, one in lines if one.get("method") == "fs/write_text_file"]
        # The older version hangs before it comes to the second, which is a new file.
        assert [set(one) for one in replay.writes] == [set(wrote[0])] * 2
        assert replay.answers[36]["error"]["code"] == -32601
        assert (person.folder / "new.txt").read_text() == "one\ntwo\n"

"""A project in a scratch folder and a session in it that may do everything but what a test forbids."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolwright.calls.request import Request
from toolwright.definition import Action, Call, Result, Tool
from toolwright.files.store import Files
from toolwright.permission.gate import AskedRequest, AskingCall, Gate
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.session.session import Session
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

VECTORS = Path(__file__).parents[1] / "vectors"


@dataclass(kw_only=True)
class ToolCase:
    """Runs tools through the front door. `rules` are (permission, pattern, action) on top of allowing everything."""

    project: Path
    workspace: Workspace
    session_id: str = "ses_1"
    rules: list[tuple[str, str, Action]] = field(default_factory=list)
    while_asking: Callable[[Request], None] = lambda request: None
    asked: list[Request] = field(default_factory=list)
    """Every request that no rule forbade, in order."""

    @property
    def files(self) -> Files:
        return self.workspace.files

    async def run(self, tool: Tool, **arguments: Any) -> Result:
        rules = [Rule("*", "*", "allow"), *(Rule(*rule) for rule in self.rules)]
        known = self.workspace.sessions_open.get(self.session_id)
        session = known or Session(self.workspace, id=self.session_id)
        session.permit(rules)
        self.workspace.sessions_open[self.session_id] = session
        log: list[AskedRequest] = []
        gate = _Watched(self.workspace.inbox, self.workspace.gate.approvals, case=self)
        call = Call(id="call_1", tool=tool.id, arguments=arguments)
        result = await session.run_call(call, log=log, gate=gate)
        self.asked += [entry.judgement.request for entry in log if entry.judgement.action != "deny"]
        return result

    def permissions(self) -> list[str]:
        return [request.permission for request in self.asked]


@dataclass(slots=True)
class _Watched(Gate):
    """Lets a test do something while a question is open, also where a rule answers it."""

    case: ToolCase = field(kw_only=True)

    async def ask(self, asker: AskingCall, requests: Sequence[Request]) -> None:
        await Gate.ask(self, asker, requests)
        for request in requests:
            self.case.while_asking(request)


def make_case(folder: Path, *, git: bool = True, encoding: str = "") -> ToolCase:
    project = folder / "a" / "b" / "project"
    project.mkdir(parents=True)
    if git:
        (project / ".git").mkdir()
    return ToolCase(
        project=project, workspace=make_workspace(project, config={"encoding": encoding} if encoding else {})
    )


def rows(name: str) -> Iterator[Json]:
    """The recorded rows of a file."""
    for line in (VECTORS / f"{name}.jsonl").read_bytes().splitlines():
        yield json.loads(line)


def lay_out(folder: Path, files: Mapping[str, Any]) -> None:
    """Make the files of a row, as the vectors describe them."""
    for name, value in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, str):
            path.write_bytes(value.encode())
        elif "link" in value:
            path.symlink_to(value["link"])
        elif "b64" in value:
            path.write_bytes(base64.b64decode(value["b64"]))
        else:
            path.write_bytes(_repeated(value["repeat"]).encode())


def _repeated(pieces: Sequence[tuple[str, int]]) -> str:
    texts = [text for text, times in pieces for _ in range(times)]
    return "".join(text.replace("{i}", str(number)) for number, text in enumerate(texts, 1))

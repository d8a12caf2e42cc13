"""A project in a scratch folder, with a session that answers permission questions by rule, to run file tools on."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from toolwright.errors import PermissionDenied, PermissionRejected, ToolError
from toolwright.files.paths import Tree
from toolwright.files.store import Files
from toolwright.request import PathPattern, Request
from toolwright.tool import Action, Json, Result, Tool, ToolContext
from toolwright.wildcard import matches

T = TypeVar("T")
VECTORS = Path(__file__).parents[1] / "vectors"


@dataclass(kw_only=True)
class Desk:
    """Implements the tools' Host. `rules` are (permission, pattern, action), the last match wins, else allow."""

    project: Path
    files: Files
    session_id: str = "ses_1"
    rules: list[tuple[str, str, Action]] = field(default_factory=list)
    while_asking: Callable[[Request], None] = lambda request: None
    asked: list[Request] = field(default_factory=list)
    """Every request that was judged, in order."""

    async def run(self, tool: Tool, **arguments: Any) -> Result:
        """Run a tool as the door would: an error comes back as a result."""
        ctx = ToolContext(
            session_id=self.session_id,
            message_id="msg_1",
            call_id="call_1",
            agent="build",
            directory=self.project,
            host=self,
        )
        try:
            return await tool.run(ctx, tool.parse(arguments))
        except ToolError as error:
            return Result.failed(error)

    def check(self, requests: Sequence[Request]) -> None:
        for request in requests:
            for pattern in request.patterns:
                if self.decide(request.permission, pattern) == "deny":
                    raise PermissionDenied(f"A rule forbids {request.permission} of {pattern}.")

    async def ask(self, requests: Sequence[Request]) -> None:
        self.check(requests)
        for request in requests:
            self.asked.append(request)
            self.while_asking(request)
            if any(self.decide(request.permission, pattern) == "ask" for pattern in request.patterns):
                raise PermissionRejected("The user said no.")

    def decide(self, permission: str, pattern: str) -> Action:
        spellings = pattern.spellings if isinstance(pattern, PathPattern) else (pattern,)
        found: Action = "allow"
        for name, wanted, action in self.rules:
            if name == permission and any(matches(spelling, wanted) for spelling in spellings):
                found = action
        return found

    def hides(self, permission: str) -> bool:
        return False

    def rules_about(self, permission: str) -> tuple[tuple[str, str, Action], ...]:
        return tuple(rule for rule in self.rules if rule[0] == permission)

    def progress(self, title: str | None, metadata: Json) -> None: ...

    async def call(self, tool: str, arguments: Json) -> Result:
        raise NotImplementedError

    def use(self, kind: type[T]) -> T:
        assert kind is Files
        return cast("T", self.files)

    def permissions(self) -> list[str]:
        return [request.permission for request in self.asked]


def make_desk(folder: Path, *, git: bool = True, encoding: str = "") -> Desk:
    project = folder / "a" / "b" / "project"
    project.mkdir(parents=True)
    if git:
        (project / ".git").mkdir()
    return Desk(project=project, files=Files(Tree(project), folder / "data", encoding=encoding))


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

"""Diagnostics of language servers: kept by file, waited for, and told."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.deadline import time_limit
from toolwright.lsp.positions import path_of
from toolwright.record import record

ERROR = 1
PER_FILE = 20
"""Errors told of one file."""
OTHERS = 5
"""Other files whose new errors are told."""
KEPT_FILES = 10_000
KEPT = 1000
"""Files, and findings of one file, that are kept of a server."""
QUIET = 0.15
"""Seconds without a word after which what a server said without a version counts as its last."""
_WORDS = {1: "ERROR", 2: "WARN", 3: "INFO", 4: "HINT"}
_WIDTH = 400


@record(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong, counted from 1."""

    line: int
    character: int
    severity: int
    message: str
    raw: Any = field(default=None, compare=False, repr=False)
    """As the server sent it, which wants it back to say how to fix it."""

    def __str__(self) -> str:
        return f"{_WORDS.get(self.severity, 'INFO')} [{self.line}:{self.character}] {self.message}"


Findings = Mapping[Path, Sequence[Diagnostic]]


@record(frozen=True, slots=True, kw_only=True)
class Publication:
    """The diagnostics a server has sent for a file, and when."""

    version: int | None
    found: tuple[Diagnostic, ...]
    serial: int


class DiagnosticsByFile:
    """The latest diagnostics of one server for each file."""

    def __init__(self) -> None:
        self.serial = 0
        self.results: dict[Path, str] = {}
        """What the server calls its last answer about a file, so that it need not give the same again."""
        self.pulled: dict[Path, tuple[Diagnostic, ...]] = {}
        self.pushed: dict[Path, Publication] = {}
        self._news = asyncio.Event()
        self.on_findings: Callable[[Path], None] = _ignore
        """Called with a file in which something else is found than before."""

    def publish(self, path: Path, version: object, items: object) -> None:
        self.serial += 1
        number = version if isinstance(version, int) else None
        before = self.pushed.pop(path, None)
        diagnostics = read_items(items)
        self.pushed[path] = Publication(version=number, found=diagnostics, serial=self.serial)
        if len(self.pushed) > KEPT_FILES:
            self.pushed.pop(next(iter(self.pushed)))
        self._news.set()
        if diagnostics != (before.found if before is not None else ()):
            self.on_findings(path)

    def pull(self, path: Path, items: object, result: object = None) -> None:
        before, diagnostics = self.pulled.get(path, ()), read_items(items)
        self.pulled[path] = diagnostics
        if diagnostics != before:
            self.on_findings(path)
        if isinstance(result, str) and result:
            self.results[path] = result
        else:
            self.results.pop(path, None)

    def take_report(self, path: Path, answer: object) -> None:
        """Take what a server answers about one document, and about others that depend on it."""
        if not isinstance(answer, dict) or answer.get("kind") == "unchanged":
            return
        self.pull(path, answer.get("items"))
        related = answer.get("relatedDocuments")
        for uri, report in related.items() if isinstance(related, dict) else ():
            other = path_of(uri)
            if other is not None and isinstance(report, dict) and report.get("kind") != "unchanged":
                self.pull(other, report.get("items"))

    def take_project(self, answer: object, known: Collection[Path]) -> None:
        """Take what a server answers about all files; it may leave out those of which it finds what is known."""
        items = answer.get("items") if isinstance(answer, dict) else None
        files = set[Path]()
        for item in items if isinstance(items, list) else ():
            path = path_of(str(item.get("uri"))) if isinstance(item, dict) else None
            if path is not None:
                files.add(path)
                if item.get("kind") != "unchanged":
                    self.pull(path, item.get("items"), item.get("resultId"))
        for path in self.pulled.keys() - files - set(known):
            self.pull(path, [])

    def knows(self, path: Path) -> bool:
        """Tell whether anything was said about a file, be it that nothing is wrong with it."""
        return path in self.pulled or path in self.pushed

    def found(self, path: Path) -> tuple[Diagnostic, ...]:
        """All that is known of a file, each finding once, in order."""
        pulled, pushed = self.pulled.get(path, ()), self.pushed.get(path)
        if pushed is None or not pushed.found:
            return pulled
        return in_order({*pulled, *pushed.found}) if pulled else pushed.found

    def raw(self, path: Path, line: int) -> list[Any]:
        """Return the diagnostics on a line, counted from 0, as the server sent them."""
        return [one.raw for one in self.found(path) if one.line == line + 1]

    def all(self) -> dict[Path, tuple[Diagnostic, ...]]:
        return {path: self.found(path) for path in {**self.pulled, **self.pushed}}

    def forget(self, path: Path) -> None:
        self.pulled.pop(path, None)
        self.results.pop(path, None)
        self.pushed.pop(path, None)

    async def wait(self, path: Path, *, version: int, since: int) -> None:
        """Return when the server has spoken about this version of a file, or about any since then if it names none."""
        while True:
            self._news.clear()
            known = self.pushed.get(path)
            if known is not None and known.serial > since:
                if known.version == version:
                    return
                if known.version is None or known.version > version:
                    # No version, or one that was never sent: what comes last is meant, and it may come in pieces.
                    if not await self._news_within(QUIET):
                        return
                    continue
            await self._news.wait()

    async def quiet(self, seconds: float) -> None:
        """Return when the server has said nothing for so long."""
        self._news.clear()
        while await self._news_within(seconds):
            self._news.clear()

    async def _news_within(self, seconds: float) -> bool:
        try:
            async with time_limit(seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        return True


def _ignore(_path: Path) -> None:
    """For diagnostics that nobody listens to."""


def read_items(items: object) -> tuple[Diagnostic, ...]:
    """The findings in what a server sent, each once and in order; what is not one is passed over."""
    diagnostics = list[Diagnostic]()
    for item in items[:KEPT] if isinstance(items, list) else ():
        try:
            start = item["range"]["start"]
            severity = item.get("severity")
            severity = severity if isinstance(severity, int) else ERROR
            diagnostics.append(
                Diagnostic(int(start["line"]) + 1, int(start["character"]) + 1, severity, _message(item), item)
            )
        except (TypeError, KeyError, ValueError, AttributeError):
            continue
    return in_order(set(diagnostics)) if len(diagnostics) > 1 else tuple(diagnostics)


def in_order(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By their places in the file."""
    return tuple(sorted(found, key=lambda one: (one.line, one.character, one.message)))


def _message(item: Any) -> str:
    text = " ".join(str(item["message"]).split())
    return f"{text[:_WIDTH]}…" if len(text) > _WIDTH else text


def errors(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [one for one in found if one.severity == ERROR]


def report(name: str, found: Sequence[Diagnostic]) -> str:
    """The errors of one file as the model reads them."""
    lines = [str(one) for one in found[:PER_FILE]]
    lines += [f"... and {len(found) - PER_FILE} more"] if len(found) > PER_FILE else []
    return "\n".join((f'<diagnostics file="{name}">', *lines, "</diagnostics>"))

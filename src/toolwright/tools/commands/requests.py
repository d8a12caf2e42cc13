"""Permissions that a command line needs: found out, judged and asked for before anything runs."""

import asyncio
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from toolwright.calls.request import Request
from toolwright.definition import ToolContext
from toolwright.errors import ToolError
from toolwright.files.paths import Place, Tree
from toolwright.process.jobs.jobs import LENGTH, Jobs
from toolwright.process.programs.lookup import Lookup
from toolwright.shell import Analysis, analyse, checks_for, requests_for
from toolwright.shell.analysis.reach import works_alone
from toolwright.shell.analysis.shfmt import explained
from toolwright.shell.state.findings import OPEN, Confinement
from toolwright.tools.commands.access import reach_for
from toolwright.tools.commands.network import named_destinations

LONG = 2000
"""Characters from which a command line takes too long to be understood between two events."""


def check_command(command: str) -> None:
    if not command.strip():
        raise ToolError("The command is empty. Give a command line to run, or a job to look at.", "schema")
    if "\0" in command:
        raise ToolError("The command holds a NUL character, which no command line can. Write it as \\0.", "schema")
    size = len(command.encode("utf-8", "surrogatepass"))
    if size > LENGTH:
        raise ToolError(
            f"The command is {size} bytes long; the system takes {LENGTH}. Write it to a file and run that.",
            "too_large",
        )


async def ask_about(
    ctx: ToolContext, tree: Tree, command: str, place: Place, granted: Collection[tuple[str, str]] = ()
) -> tuple[Analysis, list[Request]]:
    """Put all questions about a command; the answer is how it was understood and what was allowed.

    What is already granted is judged again, but not asked again.
    """
    analysis = await _analysed(ctx, tree, command, place, OPEN)
    requests = await _requested(analysis, tree)
    if _depends_on_the_box(ctx, requests) or "settings" in analysis.touched:
        box = await ctx.use(Jobs).keeps_all()
        analysis = await _analysed(ctx, tree, command, place, Confinement(complete=box, private_tmp=box))
        requests = await _told_of_the_network(ctx, await _requested(analysis, tree))
    checks = checks_for(analysis, tree.place)
    if any(ctx.decide(check.permission, pattern) == "deny" for check in checks for pattern in check.patterns):
        ctx.check(*checks)
    if granted:
        ctx.check(*requests)
    if not works_alone(analysis):
        requests = [*await named_destinations(ctx, analysis), *requests]
    await ctx.ask_all(*_without(requests, granted))
    return analysis, requests


async def _told_of_the_network(ctx: ToolContext, requests: list[Request]) -> list[Request]:
    """Tell who decides if the command would have no network, whatever it tries."""
    jobs = ctx.use(Jobs)
    if jobs.terminals is not None or not await jobs.sandbox.is_offline(reach_for(ctx)):
        return requests
    return [replace(request, metadata={**request.metadata, "network": False}) for request in requests]


async def _requested(analysis: Analysis, tree: Tree) -> list[Request]:
    """Return the requests. Much may have to be looked through: files that git has, whole folders, scripts to be run."""
    large = {"history", "take", "carry", "within", "lose", "run", "script"}
    if len(analysis.command) < LONG and not large & set(analysis.touched):
        return requests_for(analysis, tree.place)
    return await asyncio.to_thread(requests_for, analysis, tree.place)


async def _analysed(ctx: ToolContext, tree: Tree, command: str, place: Place, confinement: Confinement) -> Analysis:
    jobs = ctx.use(Jobs)
    read = partial(
        analyse,
        command,
        cwd=str(place.path),
        home=jobs.home,
        shell=jobs.shell,
        top=str(tree.root),
        confinement=confinement,
    )
    analysis = read() if len(command) < LONG else await asyncio.to_thread(read)
    if analysis.verdict == "no" and (shfmt := ctx.use(Lookup).find("shfmt")):
        analysis = await explained(analysis, shfmt)
    if confinement.private_tmp and any(map(jobs.sandbox.is_temporary_elsewhere, _paths(analysis))):
        # What is meant is not the command's own.
        analysis = replace(analysis, confinement=replace(confinement, private_tmp=False))
    if place.inside:
        return analysis
    entered = {str(place.path): str(place.path), **analysis.touched.get("enter", {})}
    return replace(analysis, touched={**analysis.touched, "enter": entered})


def _depends_on_the_box(ctx: ToolContext, requests: Iterable[Request]) -> bool:
    """Tell whether a box would matter. A command that is not allowed, or is allowed anyway, starts none."""
    asked = False
    for request in requests:
        decisions = {ctx.decide(request.permission, pattern) for pattern in (*request.patterns, *request.implied)}
        if request.permission == "bash" and "deny" in decisions:
            return False
        asked = asked or request.must_ask or decisions != {"allow"} or bool(request.suspected or request.below)
    return asked


def _paths(analysis: Analysis) -> Iterator[Path]:
    for touched in analysis.touched.values():
        yield from map(Path, touched)


def granted_by(requests: Iterable[Request]) -> Iterator[tuple[str, str]]:
    """Name what was allowed: permissions on patterns, and for acts the class on the text."""
    for request in requests:
        yield from ((request.permission, pattern) for pattern in (*request.patterns, *request.implied))
        yield from ((act.kind, text) for text, act in request.acts.items())


def _without(requests: Iterable[Request], granted: Collection[tuple[str, str]]) -> Iterator[Request]:
    """Return the requests not granted before. What is not understood may be something else each time."""
    for request in requests:
        if request.must_ask:
            yield request
            continue
        patterns, implied = (
            tuple(name for name in names if (request.permission, name) not in granted)
            for names in (request.patterns, request.implied)
        )
        acts = {text: act for text, act in request.acts.items() if (act.kind, text) not in granted}
        if patterns or implied or acts:
            yield replace(request, patterns=patterns or request.patterns, implied=implied, acts=acts)

"""The acts of a command line: of each of its commands, and of what those run in turn, here or elsewhere."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from toolwright.calls.acts import OUTWARD, RANKS, Act, ActClass, strictest
from toolwright.record import record
from toolwright.shell.analysis.analysis import AnalysedCommand, Analysis, analyse
from toolwright.shell.outward.classify import INTERPRETER, act_of
from toolwright.shell.outward.http import is_loopback
from toolwright.shell.outward.rows import Fit
from toolwright.shell.programs.arguments import names
from toolwright.shell.programs.languages import plain_name
from toolwright.shell.programs.plain import PLAIN, QUIET
from toolwright.shell.programs.wrappers import WRAPPERS
from toolwright.shell.state.findings import Touch
from toolwright.shell.walk.shells import SHELLS

_RUNS_TEXT = re.compile(r"-\w*c")
"""The option by which a shell runs its next word, whose commands are among the line's."""
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/")
DEEPEST = 4
"""The most machines one behind the other that are followed."""
_RUN_FILES = names("git npm pnpm yarn bun cnpm make gmake")
RUN_TEXTS = names("awk gawk mawk nawk vi vim nvim ex view emacs tar gtar bsdtar zip gdb expect nix-shell")
"""Programs that run commands which stand in a word of theirs."""
_FILTERS = names(
    "tar grep egrep fgrep zgrep rg sed sort uniq cut tr wc jq column find diff cmp tac nl journalctl"
    " dmesg free vmstat iostat last lastlog ss netstat lsof hostname lsblk lscpu"
)
"""Programs that show; what they would write is seen in what the line touches."""
_CHANGING: Final[tuple[Touch, ...]] = ("write", "delete", "into", "within", "overwrite", "lose", "discard", "carry")


@record(frozen=True, slots=True, kw_only=True)
class LineAct:
    """The act of one command of a line; the strictest of all that the command comes down to."""

    command: AnalysedCommand
    act: Act


def acts_of(analysis: Analysis, *, depth: int = 0) -> tuple[LineAct, ...]:
    """Return the act of each command beyond this machine, where anything is known of it."""
    acts_found = list[LineAct]()
    for command in analysis.commands:
        acts = [act for _, act in _of_calls(command, depth)]
        acts += _device_acts(analysis) if command is analysis.commands[-1] else []
        if acts:
            acts_found.append(LineAct(command=command, act=max(acts, key=lambda act: RANKS[act.kind])))
    return tuple(acts_found)


def acts_by_text(analysis: Analysis) -> dict[str, Act]:
    """Return the acts that reach beyond this machine, by the texts that are judged; the strictest where two agree."""
    by_text = dict[str, Act]()
    for command in analysis.commands:
        texts = (command.shown, *command.implied)
        for number, (call, act) in enumerate(_of_calls(command, 0)):
            text = " ".join(call)
            named = [text] if text in texts else [command.shown]
            named += [command.shown] if number == 0 and call == command.words else []
            for name in named if act.kind in OUTWARD else ():
                if name not in by_text or RANKS[act.kind] > RANKS[by_text[name].kind]:
                    by_text[name] = act
    for act in _device_acts(analysis) if analysis.commands else ():
        by_text = with_stricter(by_text, {analysis.commands[-1].shown: act})
    return by_text


def may_run_files(analysis: Analysis) -> bool:
    """Return whether the line runs scripts, recipes or aliases, or code that may run commands."""
    if analysis.paths("run", "script"):
        return True
    called = {plain_name(call[0]) for command in analysis.commands for call in command.calls if call}
    return any(
        name in (*_RUN_FILES, *RUN_TEXTS, "eval") or name in SHELLS or INTERPRETER.fullmatch(name) for name in called
    )


def with_stricter(acts: dict[str, Act], others: dict[str, Act]) -> dict[str, Act]:
    """Return the acts of both, the stricter one for a text that is in either."""
    stricter = {
        text: act for text, act in others.items() if text not in acts or RANKS[act.kind] > RANKS[acts[text].kind]
    }
    return acts | stricter


def _device_acts(analysis: Analysis) -> list[Act]:
    """Return the acts on hosts by the shell's own means: `> /dev/tcp/host/80`."""
    read, written = analysis.paths("read", "take", "carry"), analysis.paths("write")
    touched: tuple[tuple[ActClass, Sequence[str]], ...] = (("reads", read), ("changes", written))
    devices = [(kind, match) for kind, paths in touched for path in paths if (match := _DEVICE.match(path))]
    return [Act(kind=kind, on=match[1], to=(match[1],)) for kind, match in devices if not is_loopback(match[1])]


def _of_calls(command: AnalysedCommand, depth: int) -> Iterator[tuple[tuple[str, ...], Act]]:
    for call in command.calls:
        if (act := _act(call, command, depth)) is not None:
            yield call, act


def _act(call: tuple[str, ...], command: AnalysedCommand, depth: int) -> Act | None:
    if not call or not call[0]:
        return None
    return act_of(call, stdin=command.stdin, remote=lambda text, elsewhere: _remote(text, elsewhere, depth))


def _remote(text: str, elsewhere: bool, depth: int) -> Fit:
    """Judge a line that runs on another machine, where nothing is kept to take it back from."""
    if depth == DEEPEST:
        return Fit(kind="changes")
    analysis = analyse(text, cwd="/", home="/root")
    acts = [one.act for one in acts_of(analysis, depth=depth + 1)]
    final = next((act for act in acts if act.kind == "final"), None)
    if not elsewhere:
        return Fit(kind=strictest([*(act.kind for act in acts), "here"]), words=final.words if final else ())
    if final is not None:
        return Fit(kind="final", words=final.words)
    if analysis.paths("delete"):
        return Fit(kind="final", words=tuple(command.words[0] for command in analysis.commands if command.words))
    read = analysis.verdict == "understood" or analysis.contained
    looks = read and not analysis.paths(*_CHANGING)
    known = all(_only_looks(call, depth) for command in analysis.commands for call in command.calls)
    return Fit(kind="reads" if looks and known and all(act.kind != "changes" for act in acts) else "changes")


def _only_looks(call: tuple[str, ...], depth: int) -> bool:
    name = plain_name(call[0]) if call else ""
    act = act_of(call, stdin=None, remote=lambda text, elsewhere: _remote(text, elsewhere, depth)) if call else None
    if act is not None:
        return act.kind in ("nothing", "reads")
    wraps = name in WRAPPERS or (name in SHELLS and any(_RUNS_TEXT.fullmatch(one) for one in call[1:3]))
    return name in QUIET or name in PLAIN or name in _FILTERS or wraps

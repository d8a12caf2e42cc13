"""Simple commands: the shell's own commands, programs that run programs, and the files of all others."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace

from toolwright.shell.programs.arguments import Effects
from toolwright.shell.programs.arity import ARITY, prefix
from toolwright.shell.programs.files_of import effects_of, is_listed
from toolwright.shell.programs.languages import INTERPRETERS, plain_name
from toolwright.shell.programs.wrappers import WRAPPERS, Unwrapped, unwrap
from toolwright.shell.state.findings import Contained, Draft, absolute
from toolwright.shell.state.state import EndStates, Field, ShellState, always, joined, literal, unknown
from toolwright.shell.state.variables import exported, split_assignment
from toolwright.shell.walk.builtins import BUILTINS, SILENT
from toolwright.shell.walk.call import ShellCall, Walk
from toolwright.shell.walk.shells import SHELLS, run_script, run_shell


def run(walk: Walk, call: ShellCall) -> EndStates:
    """Note everything the call comes down to, and what holds after it."""
    if not call.argv:
        return always(call.state)
    walk.findings.count_words(len(call.argv) + len(call.also))
    first = call.argv[0]
    whole = (first.text in SILENT and not call.wrapped) or call.draft.add(call.argv)
    if call.also and all(one.known for one in call.also):
        whole = call.draft.add([*call.argv, *call.also]) and whole
    if not whole:
        walk.findings.doubt(f"`{first.spelled} …` stands for more commands than are judged one by one.")
    if _is_one_of_several(first, call.state):
        for text in first.texts:
            run(walk, call.inner([literal(text), *call.arguments], also=call.also))
        return always(call.state)
    if not first.exact or first.text.startswith("="):
        walk.findings.doubt(f"`{first.spelled}` names a command that is only known when it runs.")
        return always(call.state)
    if "/" in first.text:
        walk.findings.touch("run", first, call.state)
        if first.text.startswith(("/", "~")) or ".." in first.text:
            call.draft.add([literal(posixpath.basename(first.text)), *call.arguments])
    by_function = call.state.copy()
    if "/" in first.text or not walk.call_function(first.text, call.arguments, by_function):
        return _run_plain(walk, call)
    # whether the function is defined by then may depend on what happens before
    plain = _run_plain(walk, call)
    return EndStates(joined(plain.succeeded, by_function), joined(plain.failed, by_function))


def _is_one_of_several(first: Field, state: ShellState) -> bool:
    """Tell whether it is known which programs the word may name, as `python$v` in a loop; what the shell does itself is
    not among them."""
    several = first.known and not first.glob and len(first.texts) > 1
    return several and not any(text in BUILTINS or text in state.functions for text in first.texts)


def _run_plain(walk: Walk, call: ShellCall) -> EndStates:
    """The call if no function has its name."""
    first = call.argv[0]
    if first.text in BUILTINS:
        return BUILTINS[first.text](walk, call)
    name = _known_name(first.text)
    if name != first.text and name == first.text.lower():
        call.draft.add([literal(name), *call.arguments])
    if name.startswith("git-") and len(name) > len("git-"):
        return run(walk, call.inner([literal("git"), literal(name[4:]), *call.arguments], also=call.also))
    if name.startswith("ld") and _LOADER.fullmatch(name):
        walk.findings.doubt(f"`{name}` runs the program that it is given.")
    _doubt_open_prefix(walk, call)
    if name in ARITY or not is_listed(name):
        _suspect_behind_options(call.draft, name, [one.spelled for one in call.arguments])
    if call.also and (name in WRAPPERS or name in SHELLS):
        call.argv, call.also = [*call.argv, *call.also], []
    unwrapped = unwrap(name, call.argv)
    if unwrapped is not None:
        suspect(call.draft, [one.spelled for one in call.argv])
        return _run_wrapped(walk, call, name, unwrapped)
    if name in SHELLS or name in INTERPRETERS:
        # a script may run what it is told, as that of `fakeroot` does
        suspect(call.draft, [one.spelled for one in call.argv])
    if name in SHELLS:
        run_shell(walk, call, name)
    else:
        _note_effects(walk, call, effects_of(name, [*call.arguments, *call.also]))
    return always(call.state)


_LOADER = re.compile(r"ld-linux.*|ld-musl.*|ld\.so.*|ld-\d.*")
_COMMAND_WORD = re.compile(r"[A-Za-z_./~][\w./@+~-]*")
_PIECES = re.compile(r"[;&|\n(){}`$<>'\"=,:!\\]+")
_SUSPECTS = 24
"""The most words of a call that are looked at, with all that follows, as the beginning of a command of their own."""
_FOLLOWING = 4
"""With how many words after them all others are."""


def suspect(draft: Draft, words: Sequence[str]) -> None:
    """Note the words of a program that may run others: any of them may begin a command, or hold one."""
    start = max(1, len(prefix([_plain(words[0]), *words[1:]])))
    for position, word in enumerate(words[start:], start):
        if " " in word:
            suspect_text(draft, word)
            continue
        named = word.rpartition("=")[2] if word.startswith("-") else word
        if _COMMAND_WORD.fullmatch(named):
            draft.suspected[_tail(named, words, position, position - start)] = None


def _suspect_behind_options(draft: Draft, name: str, words: Sequence[str]) -> None:
    """`kubectl -n a delete x` deletes: what a program is told to do may stand behind options and their values."""
    first = next((position for position, word in enumerate(words[:_SUSPECTS]) if word.startswith("-")), len(words))
    for position in range(first + 1, min(len(words), first + _SUSPECTS // 2)):
        if not words[position].startswith("-"):
            draft.suspected[" ".join([name, *words[:first], *words[position:]])] = None


def suspect_text(draft: Draft, text: str) -> None:
    """Whatever reads the text may have words of its own before a command: `.shell rm x`, `system rm x`."""
    for piece in _PIECES.split(text):
        words = piece.split()
        for position, word in enumerate(words):
            draft.suspected[_tail(word, words, position, position)] = None


def _tail(first: str, words: Sequence[str], position: int, count: int) -> str:
    """A word with those after it; of many words, only with the next ones."""
    end = len(words) if count < _SUSPECTS else position + _FOLLOWING
    return " ".join([_plain(first), *words[position + 1 : end]])


def _plain(word: str) -> str:
    return word.rpartition("/")[2] or word


def _known_name(program: str) -> str:
    """The name to look up; file systems that do not tell capitals apart run `rm` for `RM`."""
    name = plain_name(program)
    small = name.lower()
    return small if small != name and (small in SHELLS or small in WRAPPERS or is_listed(small)) else name


def _doubt_open_prefix(walk: Walk, call: ShellCall) -> None:
    """`npm run $TASK`: the words that say what the command does must be known."""
    for argument in call.argv[1 : len(prefix([one.spelled for one in call.argv]))]:
        if not argument.known:
            problem = f"`{argument.spelled}` decides what `{call.name}` does, and is only known when it runs."
            # to these it says which database
            walk.findings.doubt(Contained(problem) if call.name in ("psql", "mysql") else problem)


def _run_wrapped(walk: Walk, call: ShellCall, name: str, unwrapped: Unwrapped) -> EndStates:
    state = _in_folder(walk, call.state, unwrapped.folder)
    if unwrapped.doubt:
        walk.findings.doubt(unwrapped.doubt)
    for assignment in unwrapped.assigned:
        variable, value = split_assignment(assignment.text)
        if problem := exported(variable, value, source=value.text, dialect=call.state.dialect):
            walk.findings.doubt(problem)
    for reason in unwrapped.unknown:
        walk.findings.doubt(reason)
    for source in unwrapped.read:
        walk.findings.touch("read", source, call.state)
    for target in unwrapped.written:
        walk.findings.touch("write", target, call.state)
    for script in unwrapped.scripts:
        run_script(walk, call, script, state)
    if not unwrapped.argv:
        return always(call.state)
    inner = call.inner(unwrapped.argv, also=call.also)
    here = name in _IN_THIS_SHELL
    inner.state = state if here else state.copy()
    _note_later_start(walk, inner)
    if name == "xargs":
        _feed_operands(inner, unwrapped)
    outcome = run(walk, inner)
    if here:
        return outcome
    if name in _IN_ZSH and call.state.dialect == "zsh":
        return EndStates(joined(outcome.succeeded, call.state), joined(outcome.failed, call.state))
    return always(call.state)


_IN_THIS_SHELL = frozenset({"command", "builtin", "time"})
"""Only these, the shell's own, leave the inner command to this shell; `exec` looks for a program of its name."""
_IN_ZSH = frozenset({"exec", "noglob", "nocorrect", "repeat"})


def _note_later_start(walk: Walk, inner: ShellCall) -> None:
    """An unknown program before a known one may be the value of an option that is not in the tables."""
    first, *rest = inner.argv
    if rest and not _is_program(first.text) and _is_program(rest[0].text):
        run(walk, inner.inner(rest, also=inner.also))


def _is_program(name: str) -> bool:
    plain = plain_name(name)
    return plain in SHELLS or plain in WRAPPERS or is_listed(plain) or plain in ARITY


def _feed_operands(inner: ShellCall, unwrapped: Unwrapped) -> None:
    """The words xargs adds: those of a known text, the folders of a listing, or something unknown."""
    feed, inner.feed = inner.feed, None
    words: list[Field] = [unknown("what xargs reads")]
    separated = {"-0", "--null", "-d", "--delimiter", "-a", "--arg-file"} & unwrapped.options.keys()
    if feed is not None and feed.text is not None and feed.text.exact and not separated:
        text = feed.text.text
        by_line = {"-I", "-i", "-J", "--replace"} & unwrapped.options.keys()
        pieces = filter(None, re.split(r"\n+" if by_line else r"[ \t\n]+", text))
        words = [literal(word.strip(" \t")) for word in pieces] if not set(text) & set("'\"\\") else words
    elif feed is not None and feed.paths:
        inner.listed = words = [replace(path, several=True) for path in feed.paths]
    mark = next(
        (
            unwrapped.options[option].text or "{}"
            for option in ("-I", "-i", "-J", "--replace")
            if option in unwrapped.options
        ),
        "",
    )
    counted = [
        unwrapped.options[one] for one in ("-n", "-L", "-l", "--max-args", "--max-lines") if one in unwrapped.options
    ]
    if counted and not mark and any(one.text != "1" for one in counted):
        words = [unknown("what xargs reads")]
    elif counted and not mark and words:
        # one call for each word
        inner.argv.append(Field("{}", tuple(text for word in words for text in word.texts), *_nature(words)))
        inner.listed = [*inner.listed, inner.argv[-1]] if inner.listed else []
        return
    if not mark:
        inner.also += words
        return
    texts = tuple(text for word in words for text in word.texts)
    named = Field(mark, texts, all(word.known for word in words), any(word.glob for word in words))
    inner.listed = [*inner.listed, named] if inner.listed else []
    inner.mark = mark if feed is not None and feed.paths and named.known else ""
    inner.argv = [
        named if one.text == mark else unknown(one.spelled) if mark in one.spelled else one for one in inner.argv
    ]


def _nature(words: Sequence[Field]) -> tuple[bool, bool]:
    return all(word.known for word in words), any(word.glob for word in words)


def _note_effects(walk: Walk, call: ShellCall, effects: Effects) -> None:
    state = _in_folder(walk, call.state, effects.folder)
    for argv in effects.same_as:
        call.draft.add(argv)
    for reason in effects.doubts:
        walk.findings.doubt(reason)
    places = {id(one): place for place, one in enumerate(call.arguments)}
    for kind, argument in sorted(effects.files, key=lambda file: places.get(id(file[1]), len(places))):
        walk.findings.touch(kind, argument, state)
        if kind == "write" and any(argument is one for one in call.listed):
            walk.findings.touch("within", argument, state)
    for place, target in effects.links:
        walk.findings.link(place, target, state)
    if effects.unlisted:
        suspect(call.draft, [one.spelled for one in call.argv])
    for value in effects.suspected:
        suspect_text(call.draft, value.spelled)
    for script in effects.scripts:
        run_script(walk, call, script, state)
    for argv in effects.inner:
        inner = call.inner(argv)
        inner.state, inner.feed = state.copy(), None
        run(walk, inner)


def _in_folder(walk: Walk, state: ShellState, folder: Field | None) -> ShellState:
    """The state for a program that is told to go somewhere first."""
    if folder is None:
        return state
    walk.findings.touch("enter", folder, state)
    inside = state.copy()
    starts = state.folders or ("",)
    texts = folder.texts if folder.known else ()
    inside.folders = tuple(absolute(start, text) for start in starts for text in texts if start or text.startswith("/"))
    return inside

"""Words to arguments: quotes off, braces, tilde and known variables filled in, fields split as the shell would."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from toolwright.shell.grammar.nodes import Arithmetic, Literal, ParameterExpansion, Part, Simple, Substitution, Word
from toolwright.shell.programs.printed_paths import listed
from toolwright.shell.state.state import ALTERNATIVES, Field, ShellState, literal, some_number, unknown

_MOST_WORDS = 64
_MOST_BRACES = 20
_LONGEST = 20_000

_PATTERN = re.compile(r"[][*?()\\]")
_PLAIN = re.compile(r"[\w./:@%+,-]+")
_OPEN_SEQUENCE = re.compile(r"\{[^{},]*\.\.[^{},]*\}")
_SEQUENCE = re.compile(r"(-?\d{1,4})\.\.(-?\d{1,4})|([A-Za-z])\.\.([A-Za-z])")
_DEFAULTS = frozenset({":-", "-", ":=", "=", ":?", "?"})
_TILDE = re.compile(r"~(\+?)(?=/|$)")
_ASSIGNED_TILDE = re.compile(r"([=:])~(?=[/:]|$)")


def expand_all(words: list[Word], state: ShellState) -> list[Field]:
    return [field for word in words for field in expand(word, state)]


def expand(word: Word, state: ShellState) -> list[Field]:
    """The arguments a word becomes: mostly one, several with braces or blanks in a variable, none if empty."""
    first = word.parts[0] if word.parts else None
    if len(word.parts) == 1 and isinstance(first, Literal) and (first.quoted or _PLAIN.fullmatch(first.text)):
        return [literal(first.text)]
    if len(word.parts) == 1 and isinstance(first, ParameterExpansion) and first.name in "@*" and not first.operator:
        if state.arguments is not None:
            return list(state.arguments)
        return [Field(word.source, (word.source,), known=False, splits=True)]
    choices = _braces(word.parts)
    if choices is None:
        return [unknown(word.source)]
    if len(choices) > 1 and state.dialect == "sh":
        choices.append(word.parts)
    return [field for parts in choices for field in _fields(parts, state)]


def value_of(word: Word, state: ShellState) -> Field:
    """The value an assignment gives: nothing is split, no wildcard takes effect."""
    pieces = [_piece(part, state) for part in word.parts]
    first = word.parts[0] if word.parts else None
    if isinstance(first, Literal) and not first.quoted and first.text.startswith("~"):
        pieces[0] = _with_tilde(first.text, state)
    return _joined(pieces, word.source)


def _fields(parts: list[Part], state: ShellState) -> Iterator[Field]:
    pieces: list[Field] = []
    started = False
    for position, part in enumerate(parts):
        if isinstance(part, Literal):
            pieces.append(_literal_piece(part, state, first=position == 0))
            started = started or part.quoted or bool(part.text)
            continue
        piece = _piece(part, state)
        if _is_quoted(part) or not piece.exact:
            pieces.append(piece if _is_quoted(part) else _unquoted(piece))
            started = True
            continue
        head, *tail = re.split(r"[ \t\n]+", piece.text)
        if tail and state.dialect == "zsh":
            yield _joined([*pieces, piece], "")
        pieces.append(_wild(head))
        started = started or bool(head)
        for more in tail:
            if started:
                yield _joined(pieces, "")
            pieces, started = [_wild(more)], bool(more)
    if started:
        yield _joined(pieces, "".join(_source(part) for part in parts))


def _unquoted(piece: Field) -> Field:
    """A value that is not settled, where it may still be split and matched with file names."""
    if not piece.known or any(text != "".join(text.split()) for text in piece.texts):
        return Field(piece.spelled, piece.texts, known=False, splits=True)
    wild = piece.glob or any(map(_has_wildcard, piece.texts))
    return replace(piece, glob=wild, several=wild and not piece.number)


def _is_quoted(part: Part) -> bool:
    return isinstance(part, Arithmetic) or part.quoted


def _source(part: Part) -> str:
    if isinstance(part, Arithmetic):
        return f"$(({part.text}))"
    return part.text if isinstance(part, Literal) else part.source


def _literal_piece(part: Literal, state: ShellState, *, first: bool) -> Field:
    if part.quoted:
        return literal(part.text)
    if first and part.text.startswith("~"):
        return _with_tilde(part.text, state)
    text = part.text
    if "~" in text and state.variables.get("HOME"):
        home = state.variables["HOME"].text
        text = _ASSIGNED_TILDE.sub(lambda match: match.group(1) + home, text)
    return _wild(text)


def _wild(text: str) -> Field:
    """Unquoted text, where wildcards are at work."""
    wild = _has_wildcard(text)
    return Field(text, (text,), glob=wild, several=wild)


def _has_wildcard(text: str) -> bool:
    """Of a set, `]` may be the first character. Not by a pattern: it would look for the end of every `[`."""
    return "*" in text or "?" in text or text.rfind("]") > text.find("[") + 1 > 0


def _with_tilde(text: str, state: ShellState) -> Field:
    match = _TILDE.match(text)
    if match is None:
        return unknown(text)
    folders = state.folders if match.group(1) else state.variables.get("HOME", unknown("~")).texts
    rest = text[match.end() :]
    if not folders:
        return unknown(text)
    wild = _has_wildcard(rest)
    return Field(folders[0] + rest, tuple(folder + rest for folder in folders), glob=wild, several=wild)


def _piece(part: Part, state: ShellState) -> Field:
    if isinstance(part, Literal):
        return literal(part.text)
    if isinstance(part, Arithmetic):
        return some_number(f"$(({part.text}))")
    if isinstance(part, ParameterExpansion):
        return _parameter(part, state)
    if part.opener in ("<(", ">("):
        return Field(part.source, ("/dev/fd/63",))
    return _printed(part, state) or unknown(part.source)


def _parameter(part: ParameterExpansion, state: ShellState) -> Field:
    if (part.operator == "#" and part.argument is None) or (part.name in "?#$!" and not part.operator):
        return some_number(part.source)
    if part.opaque or part.index is not None or (part.operator and part.argument is None):
        return unknown(part.source)
    value = _variable(part.name, state)
    if value is None or not value.known:
        return unknown(part.source)
    if part.operator and not (part.operator in _DEFAULTS and all(value.texts)):
        value = _changed(part, value) or unknown(part.source)
    if len(value.texts) > 1 or value.glob or not value.known:
        return Field(part.source, value.texts, value.known, value.glob, value.number)
    return value


def _variable(name: str, state: ShellState) -> Field | None:
    if name.isdecimal():
        number = int(name)
        if state.arguments is None or number == 0 or number > len(state.arguments):
            return None
        before = state.arguments[: number - 1]
        return state.arguments[number - 1] if all(one.single for one in before) else None
    if name == "PWD" and name not in state.variables:
        return Field("$PWD", state.folders) if state.folders else None
    return state.variables.get(name)


def _changed(part: ParameterExpansion, value: Field) -> Field | None:
    """Return what `${name%.txt}` and its like leave, where that is plain; it is a piece of the value in any case."""
    argument = part.argument
    if argument is None or value.number:
        return None
    pattern = ""
    for piece in argument.parts:
        if not isinstance(piece, Literal) or (piece.quoted and not part.quoted and _PATTERN.search(piece.text)):
            return None
        pattern += piece.text
    cuts = {
        ("##", "*/"): lambda text: text.rpartition("/")[2],
        ("%", "/*"): lambda text: text.rpartition("/")[0] if "/" in text else text,
        ("%", ".*"): lambda text: text.rpartition(".")[0] if "." in text else text,
        ("#", "./"): lambda text: text.removeprefix("./"),
    }
    cut = cuts.get((part.operator, pattern))
    if cut is None and part.operator in ("%", "%%") and not _has_wildcard(pattern):
        cut = lambda text: text.removesuffix(pattern)  # noqa: E731 - one more cut beside those of the table
    if cut is None or (value.glob and part.operator == "##" and "**" in "".join(value.texts)):
        return None
    return Field(value.spelled, tuple(map(cut, value.texts)), glob=value.glob)


def _last_command(part: Substitution) -> Simple | None:
    """The command whose output a substitution is."""
    chains = part.script.chains
    if len(chains) != 1 or chains[0].links or chains[0].background:
        return None
    last = chains[0].pipelines[0].statements[-1]
    return last if isinstance(last, Simple) and not last.assignments and last.words else None


def _printed(part: Substitution, state: ShellState) -> Field | None:
    """Return what is known of the output of a few commands: a number, a folder, paths below where they look."""
    command = _last_command(part)
    if command is None or command.words[0].bare in state.functions:
        return None
    if _prints_number(command):
        return some_number(part.source)
    alone = len(part.script.chains[0].pipelines[0].statements) == 1
    if not alone or any(one.descriptor != "2" for one in command.redirects):
        return None
    return _path_printed(part, [word.bare for word in command.words], state) or _paths_printed(part, command, state)


def _path_printed(part: Substitution, words: list[str], state: ShellState) -> Field | None:
    match words:
        case ["pwd"] if state.folders:
            return Field(state.folders[0], state.folders)
        case ["git", "rev-parse", "--show-toplevel"] if state.top and state.folders:
            tops = {top for folder in state.folders for top in _between(state.top, folder)}
            return Field(part.source, tuple(sorted(tops))) if len(tops) <= ALTERNATIVES and all(tops) else None
        case ["mktemp", *options] if all(_TEMPORARY.fullmatch(one) for one in options):
            return Field(part.source, ("/tmp/tmp.new",))  # noqa: S108 - where mktemp puts it
        case ["which" | "command", *options, name] if (
            name and options in ([], ["-v"]) and (words[0] == "which") != bool(options)
        ):
            return Field(part.source, (f"/usr/bin/{name}",)) if _PLAIN.fullmatch(name) else None
        case _:
            return None


_TEMPORARY = re.compile(r"-[dqu]+|--directory|/tmp/[\w-]+\.?X{3,}(?:\.\w+)?")


def _between(top: str, folder: str) -> list[str]:
    """The folders from one up to the top, each of which may have a repository of its own; nothing for one elsewhere."""
    folders = [folder]
    while folders[-1] != top:
        if len(folders) > ALTERNATIVES or not folders[-1].startswith(f"{top}/"):
            return [""]
        folders.append(folders[-1].rpartition("/")[0])
    return folders


def _paths_printed(part: Substitution, command: Simple, state: ShellState) -> Field | None:
    if command.words[0].bare not in ("find", "git", "ls", "grep", "rg"):
        return None
    paths = listed(expand_all(command.words, state))
    if not paths or part.quoted or not all(one.known for one in paths):
        return None
    texts = tuple(text if one.glob else f"{text}/**" for one in paths for text in one.texts)
    return Field(part.source, texts, glob=True, several=True) if len(texts) <= ALTERNATIVES else None


_NUMBERS = {
    "wc": re.compile(r"(?: -[lcwm]+)*"),
    "nproc": re.compile(r"(?: --all)?"),
    "grep": re.compile(r"(?: -[ivwxEFoa]*)* -[ivwxEFa]*c[ivwxEFa]*(?: -[ivwxEF]+)* [^ -]?[^ ]*(?: [^ -][^ ]*)?"),
    "date": re.compile(r"(?: -u)? \+(?:%[sYmdHMSjyNu])+"),
    "id": re.compile(r" -[ug]"),
    "stat": re.compile(r" (?:-c|--format) ?%[sY] [^ -][^ ]*"),
    "git": re.compile(r" rev-list --count [^ ]+"),
}


def _prints_number(command: Simple) -> bool:
    """Counts and times print nothing but a number, which is what `$((…))` and `-gt` are often fed with."""
    name = command.words[0].bare
    if name not in _NUMBERS or len(command.words) > 6:
        return False
    texts = [
        word.bare or ("x" if all(part.quoted for part in word.parts if isinstance(part, Literal)) else "")
        for word in command.words
    ]
    return all(texts) and _NUMBERS[name].fullmatch("".join(f" {text}" for text in texts[1:])) is not None


def _joined(pieces: list[Field], source: str) -> Field:
    if len(pieces) == 1:
        return pieces[0]
    known = all(piece.known for piece in pieces)
    glob = any(piece.glob for piece in pieces)
    spelled = "".join(piece.spelled for piece in pieces)
    combinations = 1
    for piece in pieces:
        combinations *= len(piece.texts)
    if combinations > ALTERNATIVES or sum(len(piece.texts[0]) for piece in pieces if piece.texts) > _LONGEST:
        return replace(unknown(source or spelled), splits=any(piece.splits for piece in pieces))
    if glob and any(not piece.glob and any(map(_has_wildcard, piece.texts)) for piece in pieces):
        known = False
    if any(piece.number for piece in pieces) and any("[" in text for piece in pieces for text in piece.texts):
        known = False
    texts = tuple("".join(choice) for choice in product(*(piece.texts for piece in pieces)))
    number = all(piece.number or piece.texts == ("",) for piece in pieces) and any(piece.number for piece in pieces)
    splits, several = any(piece.splits for piece in pieces), any(piece.several for piece in pieces)
    return Field(spelled, texts, known, glob, number, splits=splits, several=several)


def _braces(parts: list[Part]) -> list[list[Part]] | None:
    """The words that `{a,b}` and `{1..3}` make of one; None if they are too many to follow."""
    opened = sum(part.text.count("{") for part in parts if isinstance(part, Literal) and not part.quoted)
    if not opened:
        return [parts]
    if opened > _MOST_BRACES:
        return None
    pieces: list[Part | str] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            pieces += [piece for piece in re.split(r"([{},])", part.text) if piece]
        else:
            pieces.append(part)
    choices = _brace_choices(pieces)
    if len(choices) > _MOST_WORDS:
        return None
    if any(_OPEN_SEQUENCE.search("".join(one for one in choice if isinstance(one, str))) for choice in choices):
        return None
    return [[Literal(one, quoted=False) if isinstance(one, str) else one for one in choice] for choice in choices]


def _brace_choices(pieces: list[Part | str]) -> list[list[Part | str]]:
    for start, piece in enumerate(pieces):
        if piece != "{":
            continue
        group = _brace_group(pieces, start)
        if group is None:
            continue
        options, end = group
        tails = _brace_choices(pieces[end + 1 :])
        heads = (pieces[:start] + inner for option in options for inner in _brace_choices(option))
        return list(islice((head + tail for head in heads for tail in tails), _MOST_WORDS + 1))
    return [pieces]


def _brace_group(pieces: list[Part | str], start: int) -> tuple[list[list[Part | str]], int] | None:
    """The options between a brace and its partner; None if it is not a list or sequence."""
    depth, options, option = 0, list[list[Part | str]](), list[Part | str]()
    for position in range(start + 1, len(pieces)):
        piece = pieces[position]
        if piece == "}" and depth == 0:
            options.append(option)
            if len(options) > 1:
                return options, position
            sequence = _sequence(option)
            return (sequence, position) if sequence else None
        if piece == "," and depth == 0:
            options.append(option)
            option = []
            continue
        depth += {"{": 1, "}": -1}.get(piece, 0) if isinstance(piece, str) else 0
        option.append(piece)
    return None


def _sequence(option: list[Part | str]) -> list[list[Part | str]] | None:
    only = option[0] if len(option) == 1 else None
    match = _SEQUENCE.fullmatch(only) if isinstance(only, str) else None
    if match is None or "-0" in str(only):
        return None
    low, high, first, last = match.groups()
    if low is not None:
        start, end = int(low), int(high)
        width = max(len(low), len(high)) if low.startswith("0") or high.startswith("0") else 0
        steps = range(start, end + 1) if start <= end else range(start, end - 1, -1)
        return [[str(number).zfill(width)] for number in steps]
    span = range(ord(first), ord(last) + 1) if first <= last else range(ord(first), ord(last) - 1, -1)
    return [[chr(code)] for code in span]

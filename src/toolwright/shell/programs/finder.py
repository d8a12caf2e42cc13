"""`find`: where it looks, what it runs on each file, what it deletes and writes."""

import re
from collections.abc import Sequence
from itertools import pairwise

from toolwright.shell.programs.arguments import Effects, names
from toolwright.shell.programs.printed_paths import found_paths
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal

_VALUED = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -mtime -mmin"
    " -atime -amin -ctime -cmin -newer -anewer -cnewer -size -perm -user -group -uid -gid -inum -links"
    " -samefile -maxdepth -mindepth -printf -fstype -context -used -regextype -newermt -newerat -newerct"
    " -newermc -newerma -anewer -capabilities -Bmin -Btime -flags -newerXY"
)
_COMPARED = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_WRITES = frozenset({"-fprint", "-fprint0", "-fls"})


_ALONE = names(
    "-print -print0 -ls -prune -quit -depth -d -mount -xdev -xautofs -follow -daystart -noleaf -warn -nowarn"
    " -empty -readable -writable -executable -true -false -nouser -nogroup -and -or -not -a -o ! ( ) , -x -X"
    " -s"
)


def find(effects: Effects, arguments: Sequence[Field]) -> None:
    paths, expression = _split(arguments)
    effects.touch("look", *paths)
    if _follows_links(arguments) and any(one.text in (*_RUNS, "-delete") for one in expression):
        effects.doubts.append(Contained("`find` may act on what links lead to, wherever that is."))
    position = 0
    while position < len(expression):
        argument = expression[position]
        text = argument.text
        # only what stands before an action narrows what it acts on
        before = [*paths, *expression[:position]]
        position += 1
        if text in _VALUED:
            effects.touch("look", *(expression[position : position + 1] if text in _COMPARED else ()))
            position += 1
        elif text in _RUNS:
            position = _run(effects, expression, position, found_paths(before))
        elif text == "-delete":
            effects.touch("delete", *found_paths(before))
            effects.same_as.append([literal("rm"), *paths])
        elif text in _WRITES or text == "-fprintf":
            effects.touch("write", *expression[position : position + 1])
            position += 1 if text in _WRITES else 2
        elif text not in _ALONE:
            effects.doubts.append(f"`{argument.spelled}` may make `find` run, read or delete something.")


def _follows_links(arguments: Sequence[Field]) -> bool:
    texts = [one.text for one in arguments]
    links = any(text in ("-type", "-xtype") and "l" in after for text, after in pairwise(texts))
    return links or not {"-L", "-follow", "-lname", "-ilname"}.isdisjoint(texts)


def _split(arguments: Sequence[Field]) -> tuple[list[Field], list[Field]]:
    """The folders to look in, and the conditions and actions after them."""
    paths, position = list[Field](), 0
    while position < len(arguments) and _BEFORE.fullmatch(arguments[position].text):
        position += 2 if arguments[position].text in ("-D", "-f") else 1
    while position < len(arguments) and not arguments[position].spelled.startswith(("-", "(", "!", ",")):
        paths.append(arguments[position])
        position += 1
    return paths or [literal(".")], list(arguments[position:])


_BEFORE = re.compile(r"-[HLPEXdsx]+|-O\d|-D")


def _run(effects: Effects, expression: Sequence[Field], position: int, paths: Sequence[Field]) -> int:
    """The command up to `;`, or `+` after `{}`, with the folders in place of `{}`; where the expression goes on."""
    argv, together = list[Field](), False
    while position < len(expression):
        text = expression[position].text
        together = text == "+" and bool(argv) and argv[-1].text == "{}"
        if text == ";" or together:
            break
        argv.append(expression[position])
        position += 1
    texts = tuple(text for path in paths for text in path.texts)
    named = Field("{}", texts, all(path.known for path in paths), any(path.glob for path in paths), several=together)
    if argv and "{}" in argv[0].spelled:
        effects.doubts.append("`find` runs the files that it finds.")
        return position + 1
    effects.inner.append([named if one.text == "{}" else _with_name(one) for one in argv])
    return position + 1


def _with_name(argument: Field) -> Field:
    if "{}" not in argument.text:
        return argument
    return Field(argument.spelled, argument.texts, known=False)

"""Programs outside of the other tables that are known to write or delete files among their words."""

from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Effects, Handler, after_start, at_end, before_end, names, tail
from toolwright.shell.programs.unlisted import guess
from toolwright.shell.state.state import Field, literal

_READS = frozenset({"-i", "--input"})
_MOVES = names("mv move rename ren moveto")
_REMOVES = names("rm remove delete del deletefile purge rmdir rmdirs")
_REVERTS = names("revert restore update up checkout co switch cleanup clean shelve unshelve")


def writes_last(effects: Effects, arguments: Sequence[Field]) -> None:
    """`convert a b`: the last word is the file that is written, behind a format if it has one."""
    guess(effects, arguments)
    if [one.text for one in arguments[:1]] == ["identify"]:
        return
    for target in at_end(_plain_words(arguments)):
        head, colon, name = target.spelled.partition(":")
        effects.touch("write", *([] if colon and name.startswith("//") else [target]))
        effects.touch("write", *([tail(target, len(head) + 1)] if colon and name and not name.startswith("//") else []))


def writes_second(effects: Effects, arguments: Sequence[Field]) -> None:
    """`pdftotext in out`: where only one file is named, it is none that is written."""
    guess(effects, arguments)
    effects.touch("write", *after_start(_plain_words(arguments)))


def writes_each(effects: Effects, arguments: Sequence[Field]) -> None:
    """`strip a b`: every file is changed in place."""
    guess(effects, arguments)
    effects.touch("overwrite", *(one for one in _plain_words(arguments) if one.known))


def rewrites(effects: Effects, arguments: Sequence[Field]) -> None:
    """`objcopy a b` writes the second file, or the first where it is the only one."""
    guess(effects, arguments)
    effects.touch("overwrite", *(one for one in at_end(_plain_words(arguments)) if one.known))


def versioned(effects: Effects, arguments: Sequence[Field]) -> None:
    """`hg`, `svn` and their like move, delete and bring back files by words of their own."""
    guess(effects, arguments)
    first, *own = _plain_words(arguments) or [literal("")]
    if first.text in _MOVES:
        sources, targets = before_end(own), at_end(own)
        effects.touch("delete", *sources)
        effects.touch("carry", *sources)
        effects.touch("write", *targets)
        effects.touch("within", *targets)
    elif first.text in _REMOVES:
        effects.touch("delete", *own)
    elif first.text in _REVERTS:
        effects.touch("within", *(own or [literal(".")]))


def clone_files(effects: Effects, arguments: Sequence[Field]) -> None:
    """`rclone`: what is named without a colon is a path of this machine."""
    guess(effects, arguments)
    first, *own = _plain_words(arguments) or [literal("")]
    local = [one for one in own if ":" not in one.spelled]
    if first.text in _REMOVES:
        effects.remove(*local)
        return
    written = [one for one in at_end(own) if one in local] if first.text in _COPIES else []
    effects.touch("write", *written)
    effects.touch("within", *written)
    if first.text in ("move", "moveto"):
        effects.remove(*(one for one in before_end(own) if one in local))
    if first.text in ("sync", "bisync"):
        effects.remove(*(local if first.text == "bisync" else written))


_COPIES = names("copy copyto sync bisync move moveto")


def _plain_words(arguments: Sequence[Field]) -> list[Field]:
    """The words that are no options, nor the input that `-i` names."""
    texts = ["", *(one.text for one in arguments)]
    return [
        one
        for before, one in zip(texts, arguments, strict=False)
        if not one.spelled.startswith("-") and before not in _READS
    ]


OUTPUTS: Mapping[str, Handler] = {
    **dict.fromkeys(["convert", "magick", "ffmpeg", "avconv", "sox", "pdfunite", "pdftk"], writes_last),
    **dict.fromkeys(["pdftotext", "pdftohtml", "ps2pdf", "pdf2ps", "lame", "gif2webp", "qpdf"], writes_second),
    **dict.fromkeys(["strip", "mogrify", "optipng", "jpegoptim"], writes_each),
    "objcopy": rewrites,
    **dict.fromkeys(["hg", "svn", "sl", "bzr", "brz", "fossil", "darcs"], versioned),
    "rclone": clone_files,
}

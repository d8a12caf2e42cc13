"""Programs outside of the other tables that are known to write or delete files among their words."""

from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Effects, Handler, after_start, at_end, before_end, names, tail
from toolwright.shell.programs.unlisted import guess
from toolwright.shell.state.state import Field, literal

_READS = frozenset({"-i", "--input"})
_MOVES = names("mv move rename ren moveto")
_REMOVES = names("rm remove delete del deletefile purge rmdir rmdirs")
_REVERTS = names("revert restore update up checkout co switch cleanup clean shelve unshelve")


def writes_last(found: Effects, arguments: Sequence[Field]) -> None:
    """`convert a b`: the last word is the file that is written, behind a format if it has one."""
    guess(found, arguments)
    if [one.text for one in arguments[:1]] == ["identify"]:
        return
    for one in at_end(_plain_words(arguments)):
        head, colon, name = one.spelled.partition(":")
        found.touch("write", *([] if colon and name.startswith("//") else [one]))
        found.touch("write", *([tail(one, len(head) + 1)] if colon and name and not name.startswith("//") else []))


def writes_second(found: Effects, arguments: Sequence[Field]) -> None:
    """`pdftotext in out`: where only one file is named, it is none that is written."""
    guess(found, arguments)
    found.touch("write", *after_start(_plain_words(arguments)))


def writes_each(found: Effects, arguments: Sequence[Field]) -> None:
    """`strip a b`: every file is changed in place."""
    guess(found, arguments)
    found.touch("overwrite", *(one for one in _plain_words(arguments) if one.known))


def rewrites(found: Effects, arguments: Sequence[Field]) -> None:
    """`objcopy a b` writes the second file, or the first where it is the only one."""
    guess(found, arguments)
    found.touch("overwrite", *(one for one in at_end(_plain_words(arguments)) if one.known))


def versioned(found: Effects, arguments: Sequence[Field]) -> None:
    """`hg`, `svn` and their like move, delete and bring back files by words of their own."""
    guess(found, arguments)
    first, *own = _plain_words(arguments) or [literal("")]
    if first.text in _MOVES:
        sources, targets = before_end(own), at_end(own)
        found.touch("delete", *sources)
        found.touch("carry", *sources)
        found.touch("write", *targets)
        found.touch("within", *targets)
    elif first.text in _REMOVES:
        found.touch("delete", *own)
    elif first.text in _REVERTS:
        found.touch("within", *(own or [literal(".")]))


def clone_files(found: Effects, arguments: Sequence[Field]) -> None:
    """`rclone`: what is named without a colon is a path of this machine."""
    guess(found, arguments)
    first, *own = _plain_words(arguments) or [literal("")]
    local = [one for one in own if ":" not in one.spelled]
    if first.text in _REMOVES:
        found.remove(*local)
        return
    written = [one for one in at_end(own) if one in local] if first.text in _COPIES else []
    found.touch("write", *written)
    found.touch("within", *written)
    if first.text in ("move", "moveto"):
        found.remove(*(one for one in before_end(own) if one in local))
    if first.text in ("sync", "bisync"):
        found.remove(*(local if first.text == "bisync" else written))


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

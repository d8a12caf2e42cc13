"""Unified diffs, as `diff -u` and git write them. Lines in, sections out."""

from collections.abc import Sequence
from dataclasses import field

from toolwright.edits.blanks import strip
from toolwright.edits.sections import Add, Chunk, ChunkReader, Delete, Section, Update
from toolwright.errors import ToolError
from toolwright.record import record

_GIT, _OLD, _NEW, _NOTHING = "diff --git ", "--- ", "+++ ", "/dev/null"
_TRAILER = "-- "
"""Line that git writes before its version, at the end of a patch that is sent."""


def begins_diff(lines: Sequence[str], at: int) -> bool:
    """Tell whether the head of a file in a unified diff begins at this line."""
    return lines[at].startswith(_GIT) or begins_names(lines, at)


def begins_names(lines: Sequence[str], at: int) -> bool:
    """Tell whether the two names of a file stand there, the old one and the new one."""
    return lines[at].startswith(_OLD) and at + 1 < len(lines) and lines[at + 1].startswith(_NEW)


def read_unified(lines: Sequence[str]) -> list[Section]:
    """The sections of a unified diff, whatever stands before it; a ToolError (markers) says what cannot be done."""
    at = next(number for number in range(len(lines)) if begins_diff(lines, number))
    sections: list[Section] = []
    while at < len(lines):
        file = _File()
        at = file.read_head(lines, at)
        at = file.read_chunks(lines, at)
        sections.append(file.section())
    return sections


@record(slots=True)
class _File:
    """One file of the diff, while it is read."""

    old: str = ""
    new: str = ""
    git: bool = False
    created: bool = False
    deleted: bool = False
    renamed: bool = False
    reader: ChunkReader = field(default_factory=ChunkReader)

    def read_head(self, lines: Sequence[str], at: int) -> int:
        """Take in what stands before the first chunk, and give where that is."""
        first = at
        while at < len(lines) and not lines[at].startswith("@@"):
            line = lines[at]
            if at > first and line.startswith(_GIT):
                break
            if begins_names(lines, at):
                if self.old and not self.git:
                    break
                self.old, self.new = _name(line[4:]), _name(lines[at + 1][4:])
                at += 1
            else:
                self._take_note(line)
            at += 1
        return at

    def _take_note(self, line: str) -> None:
        """A line of git's about the file."""
        words = line.split(" ")
        match words:
            case ["diff", "--git", *names]:
                self.git = True
                half = len(names) // 2
                self.old, self.new = _name(" ".join(names[:half])), _name(" ".join(names[half:]))
            case ["rename", "from", *name]:
                self.renamed, self.old = True, f"a/{_name(' '.join(name))}"
            case ["rename", "to", *name]:
                self.renamed, self.new = True, f"b/{_name(' '.join(name))}"
            case ["new", "file", "mode", "100644"]:
                self.created = True
            case ["deleted", "file", "mode", _]:
                self.deleted = True
            case ["new" | "old", *_] if "mode" in words:
                raise _impossible("a patch cannot set the mode of a file")
            case ["copy", *_]:
                raise _impossible("it copies a file")
            case ["GIT", "binary", "patch"] | ["Binary", *_]:
                raise _impossible("it changes a file that is not text")

    def read_chunks(self, lines: Sequence[str], at: int) -> int:
        """Take in the chunks, and give where the next file begins. How many lines they announce is not relied on."""
        while at < len(lines) and not begins_diff(lines, at):
            if lines[at] == _TRAILER and not any(map(strip, lines[at + 2 :])):
                return len(lines)
            self.reader.take(lines[at])
            at += 1
        return at

    def section(self) -> Section:
        old, new = self._paths()
        chunks = self.reader.chunks
        if self.created or self.old == _NOTHING:
            return Add(path=new, content=_content(chunks, new))
        if self.deleted or self.new == _NOTHING:
            return Delete(path=old)
        if old != new and not self.renamed:
            raise _impossible(f"it names two files, {old} and {new}, and does not say that one becomes the other")
        return Update(path=old, target=new if self.renamed else None, chunks=chunks)

    def _paths(self) -> tuple[str, str]:
        """Both paths without the `a/` and `b/` that git puts before them."""
        sides = ((self.old, "a/"), (self.new, "b/"))
        prefixed = all(name == _NOTHING or name.startswith(prefix) for name, prefix in sides)
        old, new = (name.removeprefix(prefix) if prefixed else name for name, prefix in sides)
        if not old or not new:
            raise _impossible("it does not name its file")
        return old, new


def _name(text: str) -> str:
    """A name without the time that `diff` writes behind it."""
    name = strip(text.partition("\t")[0])
    if name.startswith('"'):
        raise _impossible(f"the name {name} is written in a way that only git reads")
    return name


def _content(chunks: Sequence[Chunk], path: str) -> str:
    """All of a new file."""
    lines = [line for chunk in chunks for line in chunk.lines]
    if any(mark != "+" for mark, _ in lines):
        raise _impossible(f"{path} is said to be new, but there are lines that it had before")
    unended = any("+" in chunk.unended for chunk in chunks)
    return "\n".join(text for _, text in lines) + ("" if unended or not lines else "\n")


def _impossible(why: str) -> ToolError:
    return ToolError(
        f"This unified diff cannot be carried out: {why}. Send it as a patch that begins with '*** Begin Patch'.",
        "markers",
    )

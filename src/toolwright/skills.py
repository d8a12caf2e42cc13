"""Skills: instructions for a kind of task, each a SKILL.md in a folder of its own, found and read when needed."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from toolwright.config.markdown import read_document
from toolwright.config.reading import read_head, reason
from toolwright.errors import ConfigError
from toolwright.record import record

log = logging.getLogger(__name__)

FILE = "SKILL.md"
MAX_FOLDERS = 1000
"""As many folders are looked through below one place; a link to the whole disk ends here."""
MAX_BYTES = 1024 * 1024

_FOREIGN = (".claude", ".agents")
_KINDS = ("skill", "skills")
_PASSED_OVER = (".git", "node_modules")


@record(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill as its file tells it."""

    name: str
    description: str
    """Occasions to load it."""
    body: str
    file: Path

    @property
    def folder(self) -> Path:
        """Return the folder of the files that it speaks of."""
        return self.file.parent


class Skills:
    """The skills of a workspace. A file that is added, changed or removed counts from the next look on."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        """Weakest first: of two skills with one name the later counts."""
        self.warnings: tuple[str, ...] = ()
        """Problems at the last look."""
        self._read: Mapping[Path, tuple[_Stamp, Skill | ConfigError]] = {}

    def all(self) -> dict[str, Skill]:
        """Every skill by its name, in the order found. Only what has changed is read again."""
        self._read = {file: self._entry(file) for folder in self.folders for file in find_skill_files(folder)}
        by_name, warnings = join_skills(found for _, found in self._read.values())
        for warning in warnings:
            if warning not in self.warnings:
                log.warning("%s", warning)
        self.warnings = warnings
        return by_name

    def _entry(self, file: Path) -> "tuple[_Stamp, Skill | ConfigError]":
        try:
            stamp = _stamp(file)
        except OSError as error:
            return (0, 0), ConfigError(f"{file} cannot be read: {error.strerror}.")
        known = self._read.get(file)
        return known if known is not None and known[0] == stamp else (stamp, _attempt(file))


def skill_folders(
    *, home: Path, root: Path, directory: Path, config_folders: Iterable[Path], foreign: bool = True
) -> list[Path]:
    """Return the folders of skills, weakest first: other programs', then ours; the user's, then the project's.

    `foreign` tells whether the folders that other agents keep their skills in count at all.
    """
    between = [folder for folder in (directory, *directory.parents) if folder.is_relative_to(root)]
    keepers = (home, *between[::-1]) if foreign else ()
    others = [keeper / name / "skills" for keeper in keepers for name in _FOREIGN]
    ours = [folder / kind for folder in config_folders for kind in _KINDS]
    return list(dict.fromkeys([*others, *ours]))


def find_skill_files(folder: Path) -> Iterator[Path]:
    """Every SKILL.md in a folder and below it, in the order of their names. Links are followed, each folder once."""
    seen: set[str] = set()
    for path, below, files in os.walk(folder, followlinks=True):
        if len(seen) == MAX_FOLDERS:
            log.warning("%s holds more than %d folders; skills in the others are not seen.", folder, MAX_FOLDERS)
            return
        real = os.path.realpath(path)
        below[:] = [] if real in seen else sorted(name for name in below if name not in _PASSED_OVER)
        if real not in seen and FILE in files:
            yield Path(path, FILE)
        seen.add(real)


def join_skills(skills: Iterable[Skill | ConfigError]) -> tuple[dict[str, Skill], tuple[str, ...]]:
    """The skills by name, the later of two winning, and a warning for each that does not count."""
    by_name: dict[str, Skill] = {}
    warnings = []
    for skill in skills:
        if isinstance(skill, ConfigError):
            warnings.append(f"A skill is left out. {skill}")
            continue
        if earlier := by_name.get(skill.name):
            warnings.append(f"Two skills are named {skill.name!r}: {skill.file} counts, {earlier.file} does not.")
        by_name[skill.name] = skill
    return by_name, tuple(warnings)


def parse_skill(text: str, file: Path) -> Skill:
    """The skill a file's text tells of; ConfigError if it does not say what it is called and when to load it."""
    document = read_document(text, str(file))
    name, description = document.head.get("name"), document.head.get("description")
    if not isinstance(name, str) or not name.strip().isprintable() or not name.strip():
        raise ConfigError(f"{file}: expected `name:` with a text of one line between two `---` at the top.")
    if not isinstance(description, str):
        raise ConfigError(f"{file}: expected `description:` with a text between two `---` at the top.")
    return Skill(name=name.strip(), description=description.strip(), body=document.body, file=file)


_Stamp = tuple[int, int]


def _stamp(file: Path) -> _Stamp:
    status = file.stat()
    return status.st_mtime_ns, status.st_size


def _attempt(file: Path) -> Skill | ConfigError:
    try:
        return parse_skill(_skill_text(file), file)
    except ConfigError as error:
        return error


def _skill_text(file: Path) -> str:
    try:
        data = read_head(file, MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ConfigError(f"{file} is larger than {MAX_BYTES} bytes. Move what is long into files beside it.")
        return data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {reason(error)}.") from error

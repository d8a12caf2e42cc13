"""Commands: prompts with a name, from Markdown files, settings and elsewhere, filled in with what the user adds."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from toolwright.config.load import Config
from toolwright.config.markdown import Document, read_document
from toolwright.config.reading import read_text
from toolwright.definition import Call
from toolwright.errors import ConfigError, ToolError, UsageError
from toolwright.events import Bus
from toolwright.record import record
from toolwright.session.prompt import CommandCall, Prompt
from toolwright.session.records.call_record import CallRecord
from toolwright.session.result import TurnEnd
from toolwright.session.session import Session
from toolwright.session.turns.subtask import hand_down
from toolwright.settings.record import CommandSettings
from toolwright.skills import Skill
from toolwright.text.ids import new_id

KINDS = ("command", "commands")
MOST_FILES = 1000
CLAUDE_KEYS = ("description", "agent", "model", "context")
CLAUDE_HARMLESS = (
    *("name", "allowed-tools", "argument-hint", "arguments", "disable-model-invocation", "user-invocable"),
    *("when_to_use", "effort", "version", "author", "license", "metadata", "tags", "category"),
)
"""Keys of Claude Code's commands that take nothing away: `allowed-tools` are those it does not ask about."""
_SHELL = re.compile(r"!`([^`\n]+)`")
_PLACE = re.compile(r"\$(?:(\d{1,3})|ARGUMENTS\b)")
_CALL = re.compile(r"/(\S+)\s*(.*)", re.DOTALL)
_WORDS = re.compile(r"""\[Image \d+\]|"[^"]*"|'[^']*'|[^\s"']+""")

Write = Callable[[Sequence[str]], Awaitable[str]]
"""Makes the text of a command that is no template, such as a prompt of an MCP server."""


@record(frozen=True, slots=True, kw_only=True)
class Command:
    """A prompt with a name."""

    name: str
    template: str = ""
    description: str = ""
    agent: str = ""
    model: str = ""
    subtask: bool | None = None
    origin: str = ""
    """The file it comes from, or whose it is."""
    trusted: bool = True
    """True if the shell commands in it may run."""
    write: Write | None = None
    """Makes the text, in place of the template."""

    @property
    def hints(self) -> list[str]:
        """The places in the template that take what the user adds, `$1` before `$ARGUMENTS`."""
        places = {match[0] for match in _PLACE.finditer(self.template)}
        return sorted(places, key=lambda place: (place == "$ARGUMENTS", len(place), place))


@record(kw_only=True, eq=False)
class Commands:
    """The commands of a workspace, by name. A later source wins: built-in, settings, files."""

    config: Config
    foreign: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """Folders of commands that other programs keep, which the user wants read; and what their names begin with."""
    added: dict[str, Command] = field(default_factory=dict[str, Command])
    """Commands of extensions while the workspace is open; they take no name that is there."""
    skills: Callable[[], Mapping[str, Skill]] = dict
    """Returns the skills; each can be asked for by its name, unless a command has it."""
    problems: list[str] = field(default_factory=list[str])

    @cached_property
    def _configured(self) -> dict[str, Command]:
        commands = {command.name: command for command in _built_in()}
        for name, entry in self.config.settings.command.items():
            commands[name] = _from_settings(name, entry, self._where(name))
        for folder, project in self._folders():
            for file in sorted(folder.rglob("*.md"))[:MOST_FILES] if folder.is_dir() else ():
                try:
                    if self._admits(file, project):
                        trusted = self.config.trusted or not project
                        foreign = folder in self.foreign
                        document = read_document(read_text(file), str(file))
                        command = _from_file(file, folder, document, trusted=trusted, foreign=foreign)
                        command = replace(command, name=self.foreign.get(folder, "") + command.name)
                        commands[command.name] = command
                        self.problems += () if foreign else _unknown_keys(document.head, file)
                except (ConfigError, OSError, ValueError) as error:
                    self.problems.append(str(error))
        return commands

    def all(self) -> list[Command]:
        every = dict(self._configured)
        for command in (*self.added.values(), *map(_from_skill, self.skills().values())):
            every.setdefault(command.name, command)
        return list(every.values())

    def __contains__(self, name: str) -> bool:
        return name in self._configured or name in self.added or name in self.skills()

    def __getitem__(self, name: str) -> Command:
        command = self._configured.get(name) or self.added.get(name)
        if command is None and (skill := self.skills().get(name)) is not None:
            return _from_skill(skill)
        if command is None:
            from difflib import get_close_matches

            names = [one.name for one in self.all()]
            near = get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise UsageError(f"There is no command {name!r}. {hint}There are: {', '.join(names)}.")
        return command

    def _folders(self) -> Iterator[tuple[Path, bool]]:
        for folder in self.foreign:
            yield folder, folder.is_relative_to(self.config.root)
        for place in self.config.folders:
            for kind in KINDS:
                yield place.path / kind, place.level == "project"

    def _admits(self, file: Path, project: bool) -> bool:
        """An untrusted project cannot have a file read by us that is not its own."""
        if self.config.trusted or not project:
            return True
        real = file.resolve()
        return real.is_relative_to(self.config.root) and self.config.may_read(real)

    def _where(self, name: str) -> str:
        sources = [one for one in self.config.sources if name in (one.value.get("command") or {})]
        return sources[-1].where(("command", name)) if sources else "settings"


async def fill_in(command: Command, call: CommandCall, session: Session) -> str:
    """The prompt that a command comes to. What the user adds is text: it never becomes a command of the shell."""
    if command.write is not None:
        return await command.write(call.words)
    template = command.template
    places = [int(match[1]) for match in _PLACE.finditer(template) if match[1]]
    values = _Values(call, max(places, default=0))
    pieces: list[str] = []
    at = 0
    for match in _SHELL.finditer(template):
        pieces.append(_PLACE.sub(values.text, template[at : match.start()]))
        pieces.append(await _shell_output(command, _quoted_into(match[1], values), session))
        at = match.end()
    pieces.append(_PLACE.sub(values.text, template[at:]))
    text = "".join(pieces).strip()
    if call.words and not _PLACE.search(template):
        text = f"{text}\n\n{call.text}"
    return text


def typed_call(name: str, text: str) -> CommandCall:
    """The call of a command by what follows its name in a prompt; quotes keep several words together."""
    return CommandCall(name=name, text=text, words=tuple(_unquoted(match[0]) for match in _WORDS.finditer(text)))


def given_call(name: str, words: Sequence[str]) -> CommandCall:
    """The call of a command by words that are told apart already, such as those of a command line."""
    return CommandCall(name=name, text=" ".join(map(_quoted_word, words)), words=tuple(words))


def _quoted_word(word: str) -> str:
    if word and not re.search(r"""[\s"']""", word):
        return word
    return f"'{word}'" if '"' in word else f'"{word}"'


def called_by(prompt: Prompt, commands: Commands) -> tuple[Command, CommandCall] | None:
    """Return the command that a prompt calls, and how: by its name, or as in `/review main`."""
    if prompt.command is not None:
        return commands[prompt.command.name], prompt.command
    name, rest = name_and_rest(prompt.text)
    return None if prompt.verbatim or name not in commands else (commands[name], typed_call(name, rest))


def name_and_rest(text: str) -> tuple[str, str]:
    """Split `/name and more` into the name and what follows it; a text that begins with no name has an empty one."""
    match = _CALL.match(text)
    return (match[1], match[2]) if match else ("", "")


def _is_subtask(command: Command, agent: str, session: Session) -> bool:
    """Tell whether a command is carried out by a subagent: if it says so, or if its agent is one."""
    if command.subtask is not None:
        return command.subtask
    return bool(agent) and session.home.agents[agent].mode == "subagent"


async def answer_command(
    proceed: Callable[[Prompt], Awaitable[TurnEnd]], prompt: Prompt, session: Session, commands: Commands
) -> TurnEnd:
    """Answer a prompt that calls a command with what the command comes to; any other goes on as it is.

    What the command says wins over what was chosen for the prompt: its agent, its model, else that of its agent.
    """
    called = called_by(prompt, commands)
    if called is None:
        return await proceed(prompt)
    command, call = called
    named = command.agent or prompt.agent
    agent = session.home.agents[named].name if named else ""
    filled = replace(
        prompt,
        text=await fill_in(command, call, session),
        typed=call.text if command.write is not None or not command.trusted else prompt.typed,
        agent=agent,
        model=command.model or (session.home.agents[command.agent].model if command.agent else "") or prompt.model,
        command=None,
        mentions=True,
        verbatim=True,
    )
    if not _is_subtask(command, agent, session):
        return await proceed(filled)
    # What the session keeps is what was typed; files and mentions are the subagent's.
    typed = replace(
        prompt,
        text=prompt.text.strip() or f"/{command.name} {call.text}".strip(),
        files=(),
        command=None,
        verbatim=True,
    )
    task = replace(filled, message_id="")
    return await session.turns.carry_out(typed, lambda turn: hand_down(turn, task, command.name))


@record(frozen=True, slots=True)
class _Values:
    """Values of `$1`, `$2`, …: the highest takes the rest; and of `$ARGUMENTS`, all of it as it was typed."""

    call: CommandCall
    highest: int

    def text(self, place: re.Match[str]) -> str:
        if place[1] is None:
            return self.call.text
        return " ".join(self._words(int(place[1]))) if int(place[1]) else place[0]

    def in_shell(self, place: re.Match[str], quote: str) -> str:
        """The same in a command of the shell: outside of quotes each word is quoted by itself."""
        if quote:
            return _quoted(self.text(place), quote)
        import shlex

        if place[1] is not None and not int(place[1]):
            return place[0]
        return shlex.join(self.call.words if place[1] is None else self._words(int(place[1])))

    def _words(self, number: int) -> Sequence[str]:
        return self.call.words[number - 1 :] if number == self.highest else self.call.words[number - 1 : number]


def _quoted_into(command: str, values: _Values) -> str:
    """A shell command with the user's words in it, each quoted for the place where it stands."""
    pieces: list[str] = []
    quote, at = "", 0
    while at < len(command):
        match = _PLACE.match(command, at)
        if match is not None:
            pieces.append(values.in_shell(match, quote))
            at = match.end()
            continue
        char = command[at]
        if char == "\\" and quote != "'":
            pieces.append(command[at : at + 2])
            at += 2
            continue
        if char in "'\"":
            quote = "" if quote == char else quote or char
        pieces.append(char)
        at += 1
    return "".join(pieces)


def _quoted(value: str, quote: str) -> str:
    if quote == "'":
        return value.replace("'", "'\\''")
    return re.sub(r'([\\"$`])', r"\\\1", value)


async def _shell_output(command: Command, text: str, session: Session) -> str:
    if not command.trusted:
        raise UsageError(
            f"/{command.name} runs a command of a project that is not trusted: {text!r}. Look at it, then run tw trust."
        )
    agent = command.agent or session.agent
    call = Call(id=new_id("call"), tool="bash", arguments={"command": text, "description": f"Part of /{command.name}"})
    quiet = CallRecord.begin(call, session_id=session.id, message_id=new_id("msg"), store=None, bus=Bus())
    result = await session.run_call(call, session.idle_terms(agent), journal=quiet)
    if result.error is not None and result.error.kind in ("denied", "rejected", "aborted"):
        raise ToolError(f"/{command.name} cannot be carried out: {result.output}", result.error.kind)
    output = result.metadata.get("output")
    return (output if isinstance(output, str) else result.output).strip()


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0] else word


def _from_settings(name: str, settings: CommandSettings, where: str) -> Command:
    return Command(
        name=name,
        template=settings.template,
        description=settings.description,
        agent=settings.agent,
        model=settings.model,
        subtask=settings.subtask,
        origin=where,
    )


def _from_file(file: Path, folder: Path, document: Document, *, trusted: bool, foreign: bool) -> Command:
    head: Mapping[str, Any] = _claude_head(document.head, file) if foreign else document.head

    def text(key: str) -> str:
        value = head.get(key, "")
        return value if isinstance(value, str) else str(value)

    subtask = head.get("subtask")
    return Command(
        name=file.relative_to(folder).with_suffix("").as_posix(),
        template=document.body,
        description=text("description"),
        agent=text("agent"),
        # A model costs the user's money; a project says which only once it is trusted.
        model=text("model") if trusted else "",
        subtask=subtask if isinstance(subtask, bool) else None,
        origin=str(file),
        trusted=trusted,
    )


def _from_skill(skill: Skill) -> Command:
    template = f"Load the skill {skill.name} with the skill tool and do as it says.\n\n$ARGUMENTS"
    return Command(name=skill.name, template=template, description=skill.description, origin=str(skill.file))


def _unknown_keys(head: Mapping[str, Any], file: Path) -> Iterator[str]:
    from difflib import get_close_matches

    known = CommandSettings.names
    for key in head:
        if key not in (*known, *CLAUDE_HARMLESS):
            near = get_close_matches(str(key), known, n=1)
            yield f"{file}: unknown key {key!r}; " + (f"did you mean {near[0]!r}?" if near else "it is ignored")


def _claude_head(head: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return Claude Code's front matter of a command, in our words. Whatever might restrict it must be understood."""
    unknown = [key for key in head if key not in (*CLAUDE_KEYS, *CLAUDE_HARMLESS)]
    if unknown:
        raise ConfigError(f"{file}: {unknown[0]!r} is not understood and might restrict the command.")
    fields = {key: head[key] for key in ("description", "agent") if key in head}
    # A short name such as `sonnet` is one of theirs; the session's own model is used.
    fields |= {"model": head["model"]} if "/" in str(head.get("model", "")) else {}
    return fields | ({"subtask": True} if head.get("context") == "fork" else {})


def _built_in() -> Iterator[Command]:
    folder = Path(__file__).with_name("command_texts")
    for name, described, subtask in (
        ("init", "write or improve AGENTS.md, which every agent reads first", None),
        ("review", "review the changes that are not committed, a commit, a branch or a pull request", True),
    ):
        template = (folder / f"{name}.md").read_text("utf-8")
        yield Command(name=name, template=template, description=described, subtask=subtask, origin="toolwright")

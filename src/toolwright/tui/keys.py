"""The keys of the conversation: what each does, and the name by which settings give it another."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from textual.binding import Binding

from toolwright.record import record

LEADER = "ctrl+x"
NONE = "none"
"""No key at all; none is called so."""
SEND = frozenset({"enter"})
NEWLINE = frozenset({"shift+enter", "ctrl+j", "alt+enter"})


@record(frozen=True, slots=True, kw_only=True)
class Key:
    """One thing that a key does."""

    action: str
    text: str
    keys: str = NONE
    """As textual writes them, several with commas."""
    after_leader: str = ""
    """The key that does it when it is pressed after the leader, as in OpenCode."""
    setting: str = ""
    """The name in `keybinds`, where OpenCode has one for the same."""


KEYS = (
    Key(action="interrupt", keys="ctrl+c", text="stop the turn; clear the prompt; twice: leave"),
    Key(action="leave", keys="ctrl+d", after_leader="q", text="leave, when the prompt is empty", setting="app_exit"),
    Key(action="suspend_process", keys="ctrl+z", text="suspend; fg in the shell comes back"),
    Key(action="go_back", keys="escape", text="twice: stop the turn; close a subagent", setting="session_interrupt"),
    Key(action="next_agent", keys="tab", text="the next agent, such as plan", setting="agent_cycle"),
    Key(action="next_mode", keys="shift+tab", text="what is asked: everything, no edits, nothing"),
    Key(action="page(-1)", keys="pageup", text="scroll up", setting="messages_page_up"),
    Key(action="page(1)", keys="pagedown", text="scroll down", setting="messages_page_down"),
    Key(action="line(-1)", text="scroll up by a line", setting="messages_line_up"),
    Key(action="line(1)", text="scroll down by a line", setting="messages_line_down"),
    Key(action="edge(-1)", keys="ctrl+home", text="to the beginning", setting="messages_first"),
    Key(action="edge(1)", keys="ctrl+end", text="to the end", setting="messages_last"),
    Key(action="command('find')", keys="ctrl+f", text="search this conversation"),
    Key(action="steer", keys="ctrl+s", text="tell the agent now, without stopping it"),
    Key(action="unqueue", keys="ctrl+up", text="edit the last prompt that waits"),
    Key(action="step_in", keys="ctrl+g", after_leader="right", text="open a subagent", setting="session_child_cycle"),
    Key(action="step_out", after_leader="up", text="close a subagent", setting="session_parent"),
    Key(action="whole", keys="ctrl+o", text="show everything of calls and thoughts, or less", setting="tool_details"),
    Key(action="command('new')", after_leader="n", text="begin a new session", setting="session_new"),
    Key(action="command('sessions')", keys="ctrl+r", after_leader="l", text="the sessions", setting="session_list"),
    Key(
        action="command('timeline')",
        keys="ctrl+p",
        after_leader="g",
        text="the prompts of this session",
        setting="session_timeline",
    ),
    Key(action="command('compact')", after_leader="c", text="make room in the context", setting="session_compact"),
    Key(action="command('export')", after_leader="x", text="write the session to a file", setting="session_export"),
    Key(action="command('fork')", text="go on with a copy", setting="session_fork"),
    Key(action="command('rename')", text="another title", setting="session_rename"),
    Key(action="command('model')", keys="ctrl+l", after_leader="m", text="choose a model", setting="model_list"),
    Key(action="command('variant')", keys="ctrl+t", text="choose the reasoning effort", setting="variant_cycle"),
    Key(action="command('agent')", keys="f2", after_leader="a", text="choose an agent", setting="agent_list"),
    Key(action="command('undo')", keys="f8", after_leader="u", text="undo and redo", setting="messages_undo"),
    Key(action="command('redo')", after_leader="r", text="redo what was undone", setting="messages_redo"),
    Key(action="command('jobs')", keys="f9", text="commands in the background"),
    Key(
        action="command('editor')",
        keys="f4",
        after_leader="e",
        text="write the prompt in your editor",
        setting="editor_open",
    ),
    Key(
        action="command('copy')",
        keys="f5",
        after_leader="y",
        text="copy an answer, code, output",
        setting="messages_copy",
    ),
    Key(action="command('theme')", keys="f3", after_leader="t", text="choose a theme", setting="theme_list"),
    Key(
        action="sidebar", keys="ctrl+b", after_leader="b", text="show or hide the side panel", setting="sidebar_toggle"
    ),
    Key(action="command('mcp')", after_leader="s", text="servers and formatters", setting="status_view"),
    Key(action="command('keys')", keys="f1", text="this list"),
)

ACTIONS = {key.action.partition("(")[0] for key in KEYS} | {"lead"}


@record(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Keys by action, from settings or as usual."""

    keys: Mapping[str, str]
    """For the actions whose keys are others than usual, in textual's writing."""
    leader: str = LEADER
    after_leader: Mapping[str, str] = field(
        default_factory=lambda: {key.after_leader: key.action for key in KEYS if key.after_leader}
    )
    """The action of each key that is pressed after the leader."""
    send: frozenset[str] = SEND
    newline: frozenset[str] = NEWLINE

    def of(self, key: Key) -> str:
        """The keys that do it now, as a person is shown them; without one the command, if there is one."""
        alone = self.keys.get(key.action, key.keys)
        after = [
            f"{_key_name(self.leader)} {_key_name(one)}"
            for one, action in self.after_leader.items()
            if action == key.action
        ]
        named = [f"/{key.action[9:-2]}"] if key.action.startswith("command(") else []
        return ", ".join([*([] if alone == NONE else map(_key_name, alone.split(","))), *after] or named)


def bindings() -> list[Binding | tuple[str, str] | tuple[str, str, str]]:
    leader = Binding(LEADER, "lead", show=False, priority=True, id="lead")
    return [leader, *(Binding(key.keys, key.action, show=False, priority=True, id=key.action) for key in KEYS)]


def chosen(keybinds: Mapping[str, Any]) -> Chosen:
    """The keys that settings choose. A name may be OpenCode's or the one of the action; `none` is no key at all."""
    leader = _spelled(str(keybinds.get("leader") or LEADER))
    keys: dict[str, str] = {"lead": leader} if leader != LEADER else {}
    after_leader = {key.after_leader: key.action for key in KEYS if key.after_leader}
    for key in KEYS:
        setting = keybinds.get(key.action, keybinds.get(key.setting) if key.setting else None)
        if isinstance(setting, str) and setting:
            ways = [one.strip() for one in setting.split(",")]
            # Ctrl-C is among OpenCode's keys to leave; ours stops the turn first.
            alone = [_spelled(one) for one in ways if "<leader>" not in one and one not in ("", "ctrl+c")]
            keys[key.action] = ",".join(alone) or NONE
            after_leader = {one: action for one, action in after_leader.items() if action != key.action}
            after_leader |= {
                _spelled(one.removeprefix("<leader>")): key.action for one in ways if one.startswith("<leader>")
            }
    return Chosen(
        keys=keys,
        leader=leader,
        after_leader=after_leader,
        send=_several(keybinds.get("input_submit")) or SEND,
        newline=_several(keybinds.get("input_newline")) or NEWLINE,
    )


def _key_name(key: str) -> str:
    """A key as people write it: `Ctrl-C`, `Page Up`."""
    *held, last = key.split("+")
    return "-".join(
        [*(one.title() for one in held), _SHOWN.get(last, last if len(last) == 1 and not held else last.title())]
    )


def _several(setting: object) -> frozenset[str]:
    return frozenset(map(_spelled, setting.split(","))) if isinstance(setting, str) and setting else frozenset()


def _spelled(key: str) -> str:
    *held, last = key.strip().lower().split("+")
    return "+".join((*held, _NAMES.get(last, last)))


_SHOWN = {"pageup": "Page Up", "pagedown": "Page Down", "escape": "Esc", "question_mark": "?", "slash": "/"}
_NAMES = {"return": "enter", "esc": "escape", "pgup": "pageup", "pgdown": "pagedown"}

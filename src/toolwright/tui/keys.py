"""The keys of the conversation: what each does, and the name by which settings give it another."""

from collections.abc import Mapping
from typing import Any

from textual.binding import Binding

from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Key:
    """One thing that a key does."""

    action: str
    keys: str
    """As textual writes them, several with commas."""
    text: str
    setting: str = ""
    """The name in `keybinds`, where OpenCode has one for the same."""


KEYS = (
    Key(action="interrupt", keys="ctrl+c", text="stop the turn; clear the prompt; twice: leave", setting="app_exit"),
    Key(action="leave", keys="ctrl+d", text="leave, when the prompt is empty"),
    Key(action="go_back", keys="escape", text="twice: stop the turn; leave a subagent", setting="session_interrupt"),
    Key(action="next_agent", keys="tab", text="the next agent, such as plan", setting="agent_cycle"),
    Key(action="next_mode", keys="shift+tab", text="what is asked: everything, no edits, nothing"),
    Key(action="page(-1)", keys="pageup", text="scroll up", setting="messages_page_up"),
    Key(action="page(1)", keys="pagedown", text="scroll down", setting="messages_page_down"),
    Key(action="edge(-1)", keys="ctrl+home", text="to the beginning", setting="messages_first"),
    Key(action="edge(1)", keys="ctrl+end", text="to the end", setting="messages_last"),
    Key(action="steer", keys="ctrl+s", text="tell the agent now, without stopping it"),
    Key(action="unqueue", keys="ctrl+up", text="edit the last prompt that waits"),
    Key(action="step_in", keys="ctrl+g", text="step into a subagent", setting="session_child_cycle"),
    Key(action="whole", keys="ctrl+o", text="show everything of calls and thoughts, or less", setting="tool_details"),
    Key(action="command('model')", keys="ctrl+l", text="choose a model", setting="model_list"),
    Key(action="command('variant')", keys="ctrl+t", text="choose how hard it thinks", setting="variant_cycle"),
    Key(action="command('agent')", keys="f2", text="choose an agent", setting="agent_list"),
    Key(action="command('sessions')", keys="ctrl+r", text="the sessions", setting="session_list"),
    Key(action="command('timeline')", keys="ctrl+p", text="the prompts of this session", setting="session_timeline"),
    Key(action="command('undo')", keys="f8", text="undo and redo", setting="messages_undo"),
    Key(action="command('jobs')", keys="f9", text="commands in the background"),
    Key(action="command('editor')", keys="f4", text="write the prompt in your editor", setting="editor_open"),
    Key(action="command('copy')", keys="f5", text="copy the last answer", setting="messages_copy"),
    Key(action="command('theme')", keys="f3", text="choose a theme", setting="theme_list"),
    Key(action="sidebar", keys="ctrl+b", text="show or hide the side panel", setting="sidebar_toggle"),
    Key(action="command('keys')", keys="f1", text="this list"),
)

ACTIONS = {key.action.partition("(")[0] for key in KEYS}


def bindings() -> list[Binding | tuple[str, str] | tuple[str, str, str]]:
    return [Binding(key.keys, key.action, key.text, show=False, priority=True, id=key.action) for key in KEYS]


def chosen(keybinds: Mapping[str, Any]) -> dict[str, str]:
    """The keys that settings choose, by the action of each. A name may be OpenCode's or the one of the action."""
    leader = str(keybinds.get("leader") or "ctrl+x")
    made: dict[str, str] = {}
    for key in KEYS:
        said = keybinds.get(key.action, keybinds.get(key.setting) if key.setting else None)
        if isinstance(said, str) and said and said != "none":
            # A key behind a leader is two keys; those of ours are one each.
            alone = [one.strip() for one in said.split(",") if "<leader>" not in one and one.strip() != leader]
            if alone:
                made[key.action] = ",".join(map(_spelled, alone))
    return made


def _spelled(key: str) -> str:
    return _NAMES.get(key.lower(), key.lower())


_NAMES = {"return": "enter", "esc": "escape", "pgup": "pageup", "pgdown": "pagedown"}

"""Commands: found, filled in, carried out; what the user adds stays text."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolwright.commands import called_by, fill_in, given_call, typed_call
from toolwright.errors import ToolError, UsageError
from toolwright.messages import TextPart
from toolwright.models.scripted import ScriptedTurn
from toolwright.session.prompt import Prompt
from toolwright.testing import ScriptedModel, ScriptedUser, make_workspace

ALLOWED = {"permission": {"bash": "allow"}}


@pytest.mark.parametrize(
    ("template", "words", "text"),
    [
        ("Swap $1 with $2.", ["a", "b", "c d"], "Swap a with b c d."),
        ("Swap $1 with $2.", ["a"], "Swap a with ."),
        ("All: $ARGUMENTS", ["a", "b c"], 'All: a "b c"'),
        ("No place.", ["a", "b c"], 'No place.\n\na "b c"'),
        ("Price $0", [], "Price $0"),
        ("Twice $1 $1", ["a", "b"], "Twice a b a b"),
        ("$2 then $1", ["a", "b"], "b then a"),
    ],
)
async def test_words_are_filled_in(project: Path, template: str, words: list[str], text: str) -> None:
    _write(project, "c.md", template)
    async with make_workspace(project) as workspace:
        assert await fill_in(workspace.commands["c"], given_call("c", words), workspace.session()) == text


async def test_what_follows_a_command_is_handed_on_with_its_quotes(project: Path) -> None:
    _write(project, "say.md", "Say: $ARGUMENTS; first $1")
    _write(project, "plain.md", "Say.")
    model = ScriptedModel({"text": "Done."}, {"text": "Done."})
    async with make_workspace(project, model=model) as workspace, workspace.session() as session:
        await session.prompt('/say "two  words" it\'s {"a": 1}')
        assert _last_prompt(session)[1] == 'Say: "two  words" it\'s {"a": 1}; first two  words it s { a : 1}'
        await session.prompt('/plain alpha "two words"')
        assert _last_prompt(session)[1] == 'Say.\n\nalpha "two words"'


@pytest.mark.parametrize(
    ("template", "text", "output"),
    [
        ("!`printf '<%s>' $ARGUMENTS`", 'a "b c" d', "<a><b c><d>"),
        ("!`printf '<%s>' $1 $2`", 'a "b c" d;e', "<a><b c><d;e>"),
        ("!`printf '<%s>' \"$ARGUMENTS\"`", 'a "b c" $HOME', '<a "b c" $HOME>'),
        ("!`printf '<%s>' x $ARGUMENTS`", "", "<x>"),
        ("!`printf '<%s>' '$1'`", "", "<>"),
    ],
)
async def test_outside_of_quotes_the_shell_gets_each_word_by_itself(
    project: Path, template: str, text: str, output: str
) -> None:
    _write(project, "c.md", template)
    async with make_workspace(project, config=ALLOWED) as workspace:
        assert await fill_in(workspace.commands["c"], typed_call("c", text), workspace.session()) == output


async def test_the_shell_runs_what_the_template_says_and_nothing_the_user_adds(project: Path) -> None:
    _write(project, "c.md", "Plain $1, !`printf '<%s>' $1 \"$1\" '$1'; echo $((1 + 2))`, $ARGUMENTS")
    mark = project / "mark"
    evil = f"`touch {mark}` $(touch {mark}) '; touch {mark}; ' \" !`touch {mark}`"
    async with make_workspace(project, config=ALLOWED) as workspace:
        text = await fill_in(workspace.commands["c"], given_call("c", [evil]), workspace.session())
    assert not mark.exists()
    assert text == f"Plain {evil}, <{evil}><{evil}><{evil}>3, '{evil}'"


@pytest.mark.parametrize(
    ("template", "output"),
    [
        ("!`echo 'it\\' $1`", "it\\ {words}"),
        ("!`echo it\\'s $1`", "it's {words}"),
        ('!`echo "it\\"s" $1`', 'it"s {words}'),
        ("!`echo it\\\\ $1`", "it\\ {words}"),
    ],
    ids=["in single quotes", "before a quote", "in double quotes", "before another"],
)
async def test_a_backslash_of_the_template_opens_no_quote_for_the_words_of_the_user(
    project: Path, template: str, output: str
) -> None:
    _write(project, "c.md", template)
    words = "x; touch mark; echo"
    async with make_workspace(project, config=ALLOWED) as workspace:
        assert await fill_in(workspace.commands["c"], given_call("c", [words]), workspace.session()) == output.format(
            words=words
        )
    assert not (project / "mark").exists()


async def test_the_shell_in_a_command_goes_by_the_rules_of_the_agent(project: Path) -> None:
    _write(project, "c.md", "!`echo hello`")
    config = {"permission": {"bash": {"*": "allow", "echo *": "deny"}}}
    async with make_workspace(project, config=config) as workspace:
        with pytest.raises(ToolError, match="/c cannot be carried out") as caught:
            await fill_in(workspace.commands["c"], given_call("c", []), workspace.session())
    assert caught.value.kind == "denied"


async def test_an_untrusted_project_brings_text_but_no_shell_and_no_model(project: Path) -> None:
    mark = project / "mark"
    _write(project, "plain.md", "---\nmodel: a/b\n---\nSay $1")
    _write(project, "evil.md", f"!`touch {mark}`")
    outside = project.parent / "secret.md"
    outside.write_text("secret")
    (project / ".opencode/command/link.md").symlink_to(outside)
    (project / "opencode.json").write_text(json.dumps({"command": {"set": {"template": f"!`touch {mark}`"}}}))
    async with make_workspace(project, config=ALLOWED, trust=False) as workspace:
        commands, session = workspace.commands, workspace.session()
        assert await fill_in(commands["plain"], typed_call("plain", "hi"), session) == "Say hi"
        assert commands["plain"].model == ""
        with pytest.raises(UsageError, match="not trusted"):
            await fill_in(commands["evil"], typed_call("evil", ""), session)
        assert "link" not in commands
        assert "set" not in commands
    assert not mark.exists()


async def test_a_prompt_that_begins_with_a_command_is_what_the_command_comes_to(project: Path) -> None:
    _write(project, "git/swap.md", "---\nagent: plan\ndescription: d\n---\nSwap $1 with $2")
    model = ScriptedModel({"text": "Done."}, {"text": "Done."})
    async with make_workspace(project, model=model) as workspace, workspace.session() as session:
        await session.prompt('/git/swap "a b" c')
        assert _last_prompt(session) == ("plan", "Swap a b with c")
        await session.prompt("/etc/passwd is a file")
        assert _last_prompt(session)[1] == "/etc/passwd is a file"


async def test_a_subtask_is_answered_in_a_session_below(project: Path) -> None:
    answer: ScriptedTurn = {"text": "Found nothing."}
    model = ScriptedModel(answer)
    config = {"command": {"look": {"template": "Look at $1", "subtask": True, "agent": "explore"}}}
    async with make_workspace(project, model=model, config=config) as workspace, workspace.session() as session:
        result = await session.prompt("/look here")
        assert result.text == "Found nothing."
        [child] = await workspace.sessions.children(session.id)
        assert child.title == "/look (@explore subagent)"


async def test_files_win_over_settings_and_settings_over_what_is_built_in(project: Path) -> None:
    _write(project, "both.md", "file")
    config = {"command": {"both": {"template": "settings"}, "init": {"template": "mine"}}}
    async with make_workspace(project, config=config) as workspace:
        commands = workspace.commands
        assert [commands[name].template for name in ("both", "init")] == ["file", "mine"]
        assert commands["review"].subtask is True
        with pytest.raises(UsageError, match="There are: init, review"):
            commands["nope"]


async def test_a_broken_file_stops_no_other(project: Path) -> None:
    _write(project, "bad.md", "---\na: [\n---\nx")
    _write(project, "good.md", "x")
    async with make_workspace(project) as workspace:
        assert "good" in workspace.commands
        assert "bad.md:" in workspace.commands.problems[0]


@pytest.mark.parametrize("wanted", [True, False])
async def test_claudes_commands_are_read_if_the_settings_say_so(project: Path, wanted: bool) -> None:
    folder = project / ".claude/commands"
    folder.mkdir(parents=True)
    (folder / "theirs.md").write_text("Hello $ARGUMENTS")
    config: dict[str, Any] = {"foreign": {"claude": ["commands"]}} if wanted else {}
    async with make_workspace(project, config=config) as workspace:
        assert ("theirs" in workspace.commands) is wanted


def test_quotes_keep_words_together() -> None:
    assert typed_call("c", """a "b c" 'd e' [Image 1] f""").words == ("a", "b c", "d e", "[Image 1]", "f")


def test_words_that_are_written_behind_each_other_are_read_as_the_same_words() -> None:
    words = ("a", "b c", "it's", 'say "x"', "d\te")
    assert typed_call("c", given_call("c", words).text).words == words


def test_a_command_is_called_by_its_whole_name(project: Path) -> None:
    commands = make_workspace(project, user=ScriptedUser()).commands
    assert called_by(Prompt(text="/initial"), commands) is None
    assert called_by(Prompt(text="say /init"), commands) is None
    assert called_by(Prompt(text="/init", verbatim=True), commands) is None
    called = called_by(Prompt(text="/init\nmore words"), commands)
    assert called is not None
    assert called[1].words == ("more", "words")


def _last_prompt(session: Any) -> tuple[str, str]:
    user = [one for one in session.conversation.messages if one.info.role == "user"][-1]
    texts = [part.text for part in user.parts.values() if isinstance(part, TextPart) and not part.synthetic]
    return user.info.agent, texts[0]


def _write(project: Path, name: str, text: str) -> None:
    file = project / ".opencode/command" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

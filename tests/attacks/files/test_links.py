"""Links as a way around: a patch that names one, a rule that names one, a search that meets one."""

from pathlib import Path
from typing import Any

import pytest

from toolwright.definition import Call, Result
from toolwright.permission.rules import Rule
from toolwright.testing import ScriptedUser, make_session


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "target.txt").write_text("precious\n")
    (root / "link").symlink_to("target.txt")
    return root


async def run(project: Path, tool: str, *rules: Rule, user: ScriptedUser | None = None, **arguments: Any) -> Result:
    return await make_session(project, rules=rules, user=user).run_call(Call(id="c1", tool=tool, arguments=arguments))


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


async def test_a_patch_that_deletes_a_link_deletes_the_link(project: Path) -> None:
    result = await run(project, "apply_patch", patchText=patch("*** Delete File: link"))
    assert result.output.endswith("\nD link")
    assert not (project / "link").is_symlink()
    assert (project / "target.txt").read_text() == "precious\n"


async def test_also_one_to_a_folder_and_one_that_leads_nowhere(project: Path) -> None:
    (project / "folder").mkdir()
    (project / "folder" / "a").write_text("a")
    (project / "to-folder").symlink_to("folder")
    (project / "broken").symlink_to("nowhere")
    text = patch("*** Delete File: to-folder", "*** Delete File: broken")
    assert (await run(project, "apply_patch", patchText=text)).error is None
    assert sorted(path.name for path in project.iterdir()) == ["folder", "link", "target.txt"]
    assert (project / "folder" / "a").read_text() == "a"


async def test_a_patch_that_moves_a_link_moves_the_link(project: Path) -> None:
    text = patch("*** Update File: link", "*** Move to: sub/other")
    assert (await run(project, "apply_patch", patchText=text)).error is None
    assert (project / "sub" / "other").readlink() == Path("target.txt")
    assert not (project / "link").is_symlink()
    assert (project / "target.txt").read_text() == "precious\n"


async def test_a_link_is_not_moved_and_changed_at_once(project: Path) -> None:
    text = patch("*** Update File: link", "*** Move to: other", "@@", "-precious", "+lost")
    result = await run(project, "apply_patch", patchText=text)
    assert result.error is not None
    assert "is a link" in result.output
    assert (project / "target.txt").read_text() == "precious\n"
    assert (project / "link").is_symlink()


async def test_after_a_link_is_deleted_its_name_is_free_for_a_file(project: Path) -> None:
    text = patch("*** Delete File: link", "*** Add File: link", "+new")
    assert (await run(project, "apply_patch", patchText=text)).error is None
    assert not (project / "link").is_symlink()
    assert (project / "link").read_text() == "new\n"
    assert (project / "target.txt").read_text() == "precious\n"


async def test_an_update_through_a_link_changes_what_it_leads_to_and_keeps_the_link(project: Path) -> None:
    text = patch("*** Update File: link", "@@", "-precious", "+more precious")
    assert (await run(project, "apply_patch", patchText=text)).error is None
    assert (project / "link").is_symlink()
    assert (project / "target.txt").read_text() == "more precious\n"


@pytest.mark.parametrize("pattern", ["secrets/*", "*/secrets/*", "{project}/secrets/*", "SECRETS/*"])
@pytest.mark.parametrize("spelling", ["secrets/key", "./secrets/../secrets/key", "again/key"])
async def test_a_rule_spelled_with_the_name_of_a_link_holds(tmp_path: Path, pattern: str, spelling: str) -> None:
    project = tmp_path / "project"
    (project / "priv").mkdir(parents=True)
    (project / "priv" / "key").write_text("SECRET\n")
    (project / "secrets").symlink_to("priv")
    (project / "again").symlink_to("secrets")
    rule = Rule("read", pattern.replace("{project}", str(project)), "deny")
    result = await run(project, "read", rule, filePath=spelling)
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_a_rule_that_allows_a_link_does_not_allow_what_it_leads_to(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "priv").mkdir(parents=True)
    (project / "priv" / "key").write_text("SECRET\n")
    (project / "open").symlink_to("priv")
    rules = (Rule("read", "*", "deny"), Rule("read", "open/*", "allow"))
    result = await run(project, "read", *rules, filePath="open/key")
    assert result.error is not None
    assert result.error.kind == "denied"


PEEKS = {
    "an update": patch("*** Update File: .env", "@@", "+# x"),
    "a move": patch("*** Update File: .env", "*** Move to: n.txt", "@@", "+# x"),
    "a move of nothing but the name": patch("*** Update File: .env", "*** Move to: n.txt"),
    "a chunk that does not fit": patch("*** Update File: .env", "@@", "-API=", "+x"),
    "beside another file": patch("*** Add File: a", "+x", "*** Update File: .env", "@@", "+# x"),
    "through a link": patch("*** Update File: plain.txt", "@@", "+# x"),
}


@pytest.mark.parametrize("attack", PEEKS)
async def test_a_patch_shows_nothing_of_a_file_that_may_not_be_read(project: Path, attack: str) -> None:
    (project / ".env").write_text("API=secret\n")
    (project / "plain.txt").symlink_to(".env")
    result = await run(project, "apply_patch", patchText=PEEKS[attack])
    assert result.error is not None
    assert result.error.kind == "denied"
    assert "secret" not in str(result)
    assert (project / ".env").read_text() == "API=secret\n"
    assert not (project / "n.txt").exists()


@pytest.mark.parametrize(("reply", "changed"), [("once", True), ("reject", False)])
async def test_where_reading_is_asked_for_a_patch_asks(project: Path, reply: str, changed: bool) -> None:
    (project / "key.pem").write_text("secret\n")
    user = ScriptedUser.saying(reply)
    rule = Rule("read", "*.pem", "ask")
    text = patch("*** Update File: key.pem", "@@", "+x")
    result = await run(project, "apply_patch", rule, user=user, patchText=text)
    assert [question.permission for question in user.questions] == ["read"]
    assert (result.error is None) is changed
    assert ("secret" in result.output) is changed


@pytest.mark.parametrize("action", ["ask", "deny"])
@pytest.mark.parametrize("arguments", [{}, {"include": "*.pem"}, {"path": "key.pem"}, {"path": "innocent"}])
async def test_grep_leaves_out_what_may_not_be_read_unasked(
    project: Path, action: str, arguments: dict[str, Any]
) -> None:
    (project / "key.pem").write_text("API secret\n")
    (project / "innocent").symlink_to("key.pem")
    rule = Rule("read", "*.pem", "deny" if action == "deny" else "ask")
    result = await run(project, "grep", rule, pattern="API", **arguments)
    assert "secret" not in result.output
    assert "left out" in result.output

"""The web page in a real browser, by the names that people and screen readers know its parts by."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port
from tests.server.browser import button, conversation, dialog, needs_browser, one_browser, opened, prompt, read, say
from tests.server.harness import TOKEN, listening, served
from tests.server.test_running import running
from tests.server.test_session import ASK_EDIT, EDIT, READ, project
from tests.waiting import until

from playwright.async_api import expect  # isort: skip

pytestmark = [
    pytest.mark.slow,
    needs_browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("one_browser"),
]
__all__ = ["one_browser"]

PAGE = Path(__file__).parents[2] / "src" / "toolwright" / "server" / "page"
BASH = {"tools": [{"name": "bash", "args": {"command": "echo one && echo two", "description": "say two things"}}]}
TODO = {"id": "1", "status": "pending", "priority": "low"}
OPTIONS = [{"label": "Blue", "description": "b"}, {"label": "Red", "description": "r"}]
QUESTION = {
    "tools": [{"name": "question", "args": {"questions": [{"question": "Which?", "header": "h", "options": OPTIONS}]}}]
}


def many_lines(folder: Path) -> tuple[str, str]:
    before = "".join(f"line {number}\n" for number in range(60))
    after = before.replace("line 5\n", "five\n").replace("line 50\n", "fifty\n")
    (folder / "long.txt").write_text(before)
    return before, after


def write_long(after: str) -> tuple[Any, Any]:
    reading = {"tools": [{"name": "read", "args": {"filePath": "long.txt"}}]}
    return reading, {"tools": [{"name": "write", "args": {"filePath": "long.txt", "content": after}}]}


async def test_the_page_is_small_and_makes_no_html_from_text() -> None:
    assert sum(file.stat().st_size for file in PAGE.iterdir()) < 280_000
    others = ("preact.js", "marked.js", "prism.js")
    for file in PAGE.glob("*.js"):
        if file.name not in others:
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "://cdn"):
                assert word not in file.read_text(), (file, word)


async def test_what_cannot_be_taken_back_says_so_and_is_allowed_once(tmp_path: Path) -> None:
    folder = project(tmp_path)
    push = {"tools": [{"name": "bash", "args": {"command": "git push --force", "description": "Push"}}]}
    async with served(folder, push, {"text": "Done."}) as server, opened(server.url) as page:
        await say(page, "push it")
        asked = dialog(page, "Permission")
        sentence = "`git push --force` cannot be taken back; acts on the remote repository"
        await expect(asked.get_by_text(sentence, exact=True)).to_be_visible()
        await expect(asked).to_contain_text("Why it is asked: the rule act final: ask")
        await expect(asked).to_contain_text("This can only be allowed once at a time.")


async def test_a_prompt_is_answered_with_a_permission_that_says_all(tmp_path: Path) -> None:
    folder = project(tmp_path)
    answer = "Done: **bold** <img src=x onerror=alert(1)>\n\n```python\nprint(1)\n```"
    async with served(folder, READ, EDIT, {"text": answer}, config=ASK_EDIT) as server, opened(server.url) as page:
        assert server.url + "/" == page.url.partition("#")[0]
        await say(page, "edit it")
        asked = dialog(page, "Permission")
        await expect(asked.get_by_role("group", name="Difference")).to_contain_text('print("bye")')
        await expect(asked.get_by_text("edit *", exact=True)).to_be_visible()
        await expect(asked).to_contain_text("Why it is asked: the rule edit *: ask")
        await expect(page.get_by_role("list", name="Sessions")).to_contain_text("waits")
        await expect(asked.get_by_role("radio")).to_have_count(3)
        await page.keyboard.press("Enter")  # of somebody who was typing: no answer
        await read(asked)
        await page.keyboard.press("Control+Enter")
        await expect(asked).to_have_count(0)
        await expect(conversation(page).locator("strong")).to_have_text("bold")
        await expect(conversation(page).get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
        await expect(conversation(page).locator("img")).to_have_count(0)
        assert (folder / "a.py").read_text() == 'print("bye")\n'
        await expect(page.get_by_role("complementary", name="Work")).to_contain_text("a.py")


async def test_always_stores_the_chosen_rule_for_the_chosen_scope_and_can_be_revoked(tmp_path: Path) -> None:
    config = {"permission": {"bash": "ask"}}
    turns = (BASH, {"text": "Done."})
    async with served(project(tmp_path), *turns, config=config) as server, opened(server.url) as page:
        await say(page, "say it")
        asked = dialog(page, "Permission")
        await expect(asked).to_contain_text("echo one && echo two")
        await asked.get_by_role("radio", name="everywhere").check()
        await button(asked, "Always allow").click()
        await expect(conversation(page)).to_contain_text("Done.")
        stored = await server.get("/tw/approvals")
        assert stored
        assert {one["scope"] for one in stored} == {"user"}
        await button(page, "Session menu").click()
        await page.get_by_role("menuitem", name="Approvals").click()
        listed = dialog(page, "Approvals")
        for _ in stored:
            await listed.get_by_role("button", name="Revoke").first.click()
        await expect(listed).to_contain_text("Nothing yet")
        assert await server.get("/tw/approvals") == []


async def test_a_rule_is_edited_and_tried_before_it_is_stored(tmp_path: Path) -> None:
    calls = [{"tools": [{"name": "bash", "args": {"command": f"echo {word}", "description": "d"}}]} for word in "ab"]
    turns, config = (*calls, {"text": "Done."}), {"permission": {"bash": "ask"}}
    async with served(project(tmp_path), *turns, config=config) as server, opened(server.url) as page:
        await say(page, "say it")
        asked = dialog(page, "Permission")
        await expect(asked).to_contain_text("echo a")
        await button(asked, "Allow once").click()
        await expect(asked).to_contain_text("echo b")
        await button(asked, "Edit").click()
        rule = asked.get_by_role("textbox", name="Rule")
        await rule.fill("make *")
        await expect(asked).to_contain_text("does not answer the question")
        await expect(button(asked, "Always allow")).to_be_disabled()
        await rule.fill("echo *")
        await expect(asked).to_contain_text("Covers this call and one asked before")
        await expect(asked.get_by_role("listitem")).to_have_text("echo a")
        await rule.fill("echo b")
        await expect(asked).to_contain_text("none of the earlier ones")
        await button(asked, "Always allow").click()
        await expect(conversation(page)).to_contain_text("Done.")
        assert [one["pattern"] for one in await server.get("/tw/approvals")] == ["echo b"]


async def test_a_file_that_could_not_be_attached_is_told(tmp_path: Path) -> None:
    folder = project(tmp_path)
    file = {"type": "file", "mime": "text/plain", "filename": "gone.txt", "url": f"file://{folder}/gone.txt"}
    async with served(folder, {"text": "Where?"}) as server, opened(server.url) as page:
        session = (await server.post("/session", {}))["id"]
        await server.post(f"/session/{session}/message", {"parts": [{"type": "text", "text": "look"}, file]})
        await page.get_by_role("list", name="Sessions").get_by_role("button").first.click()
        await expect(conversation(page)).to_contain_text("gone.txt could not be read")


async def test_a_rejection_with_words_reaches_the_model_and_hidden_characters_are_shown(tmp_path: Path) -> None:
    hidden = {"tools": [{"name": "bash", "args": {"command": "echo \u202eevil", "description": "d"}}]}
    config = {"permission": {"bash": "ask"}}
    async with served(project(tmp_path), hidden, config=config) as server, opened(server.url) as page:
        await say(page, "go")
        asked = dialog(page, "Permission")
        await expect(asked).to_contain_text("‹U+202E›evil")
        await asked.get_by_role("textbox", name="What to do instead").fill("use printf")
        await button(asked, "Reject").click()
        await expect(conversation(page)).to_contain_text("use printf")


async def test_questions_are_answered_put_off_and_seen_by_two_tabs(tmp_path: Path) -> None:
    turns = (QUESTION, {"text": "Blue it is."})
    async with served(project(tmp_path), *turns) as server, opened(server.url) as page:
        await say(page, "ask me")
        asked = dialog(page, "Question")
        await expect(asked).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(asked).to_have_count(0)
        other = await page.context.new_page()
        await other.goto(page.url)
        await button(page, "A question waits: answer").click()
        await button(asked, "Blue").click()
        await expect(conversation(page)).to_contain_text("Blue it is.")
        await expect(dialog(other, "Question")).to_have_count(0)
        await expect(conversation(other)).to_contain_text("Blue it is.")


UNREAD = """
const later = setTimeout
const reading = []
window.setTimeout = (work, wait, ...more) => (wait === 400 ? (reading.push(work), 0) : later(work, wait, ...more))
window.readIt = () => reading.at(-1)()
"""


async def test_no_answer_goes_to_a_question_that_has_just_appeared(tmp_path: Path) -> None:
    again = {"tools": [{"name": "bash", "args": {"command": "echo three", "description": "say it"}}]}
    config = {"permission": {"bash": "ask"}}
    turns = (BASH, again, {"text": "Done."})
    async with served(project(tmp_path), *turns, config=config) as server, opened(server.url) as page:
        await page.add_init_script(UNREAD)
        await page.reload()
        replies = list[str]()
        page.on("request", lambda one: replies.append(one.url) if "/reply" in one.url else None)
        await say(page, "say it")
        asked = dialog(page, "Permission")
        await expect(asked).to_contain_text("echo one && echo two")
        await expect(asked).to_have_attribute("data-unread", "")
        await page.evaluate("document.getElementById('prompt').value = 'and th'")
        await page.keyboard.type("en")
        await page.keyboard.press("Control+Enter")
        await expect(prompt(page)).to_have_value("and then")
        place = await button(asked, "Allow once").bounding_box()
        assert place is not None
        middle = (place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        await page.mouse.click(*middle)
        await expect(asked).to_be_visible()
        assert not replies
        await page.wait_for_function("() => (window.readIt(), true)")
        await read(asked)
        await page.mouse.click(*middle)
        await expect(asked).to_contain_text("echo three")
        await page.mouse.click(*middle)
        await page.keyboard.press("Control+Enter")
        await expect(asked).to_be_visible()
        assert len(replies) == 1
        await page.evaluate("window.readIt()")
        await button(asked, "Allow once").click()
        await expect(conversation(page)).to_contain_text("Done.")


async def test_prompts_that_are_typed_ahead_belong_to_one_session_and_lose_nothing(tmp_path: Path) -> None:
    turns = ({"text": "One."}, {"text": "Two."})
    async with served(project(tmp_path), *turns) as server, opened(server.url) as page:
        held = list[Any]()

        async def hold(route: Any) -> None:
            if route.request.method == "POST":
                held.append(route)
            else:
                await route.continue_()

        await page.route(re.compile(r"/session(\?.*)?$"), hold)
        for text in ("first", "second"):
            await page.keyboard.type(text)
            await page.keyboard.press("Enter")
        await page.keyboard.type("half a th")
        await expect(prompt(page)).to_have_value("half a th")
        await until(lambda: held)
        for route in held:
            await route.continue_()
        await expect(conversation(page)).to_contain_text("Two.")
        await expect(prompt(page)).to_have_value("half a th")
        assert len(await server.get("/session")) == 1
        assert len(held) == 1


async def test_enter_takes_no_completion_of_an_older_text(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "b.py").write_text("b")
    async with served(folder, {"text": "Fine."}) as server, opened(server.url) as page:
        await prompt(page).press_sequentially("see @a")
        await expect(page.get_by_role("option", name="a.py")).to_be_visible()
        await page.route("**/find/file*", lambda route: None)
        await page.keyboard.type("ll")
        await page.keyboard.press("Enter")
        await expect(conversation(page)).to_contain_text("see @all")


async def test_pieces_calls_and_turns_are_undone_after_a_preview(tmp_path: Path) -> None:
    folder = project(tmp_path)
    before, after = many_lines(folder)
    turns = (*write_long(after), {"text": "Written."})
    async with served(folder, *turns) as server, opened(server.url) as page:
        await say(page, "write it")
        await expect(conversation(page)).to_contain_text("Written.")
        await page.get_by_role("button", name="long.txt").click()
        undo = dialog(page, "Undo")
        await undo.get_by_role("checkbox", name="Piece 1 of long.txt").uncheck()
        await button(undo, "Undo 1 piece").click()
        await expect(undo).to_have_count(0)
        assert (folder / "long.txt").read_text() == before.replace("line 5\n", "five\n")
        await button(page, "Redo").click()
        await expect(page.get_by_text("Made again.")).to_be_visible()
        assert (folder / "long.txt").read_text() == after
        await page.keyboard.press("Alt+z")
        await expect(undo.get_by_role("group", name="Difference").last).to_contain_text("fifty")
        await button(undo, "Undo").click()
        await expect(conversation(page)).to_contain_text("messages undone")
        assert (folder / "long.txt").read_text() == before
        await conversation(page).get_by_role("button", name="Redo").click()
        await expect(conversation(page)).not_to_contain_text("messages undone")
        assert (folder / "long.txt").read_text() == after


async def test_a_turn_that_changed_no_file_is_undone_and_made_again(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Only words."}) as server, opened(server.url) as page:
        await say(page, "say something")
        await expect(conversation(page)).to_contain_text("Only words.")
        await page.keyboard.press("Alt+z")
        undo = dialog(page, "Undo")
        await expect(undo).to_contain_text("No file was changed. What was said from there on is left out from now on.")
        await button(undo, "Undo").click()
        await expect(conversation(page)).to_contain_text("2 messages undone")
        await conversation(page).get_by_role("button", name="Redo").click()
        await expect(conversation(page)).not_to_contain_text("messages undone")


async def test_agents_stand_in_a_tree_and_calls_say_why_they_were_allowed(tmp_path: Path) -> None:
    task = {"description": "Look around", "prompt": "Look around. MARK", "subagent_type": "explore"}
    turns = (
        {"tools": [{"name": "task", "args": task}], "not_match": "MARK"},
        {"match": "MARK", "tools": [{"name": "read", "args": {"filePath": "a.py"}}]},
        {"match": "MARK", "text": "It prints."},
        {"text": "All seen."},
    )
    async with served(project(tmp_path), *turns) as server, opened(server.url) as page:
        await say(page, "look")
        await expect(conversation(page)).to_contain_text("All seen.")
        tree = page.get_by_role("tree", name="Agents")
        await expect(tree.get_by_role("treeitem")).to_have_count(2)
        await tree.get_by_role("button", name="Look around").click()
        await expect(conversation(page)).to_contain_text("It prints.")
        await conversation(page).get_by_text("Read").click()
        await button(page, "Why was this allowed?").click()
        await expect(dialog(page, "Why it was allowed")).to_contain_text("allow")


async def test_sessions_are_renamed_forked_exported_searched_and_deleted(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}) as server, opened(server.url) as page:
        await say(page, "hi")
        await expect(conversation(page)).to_contain_text("Hello.")
        [session] = await server.get("/session")

        async def choose(name: str) -> None:
            await button(page, "Session menu").click()
            await page.get_by_role("menuitem", name=name).click()

        await choose("Rename")
        await dialog(page, "Rename").get_by_role("textbox", name="Title").fill("Greetings")
        await button(page, "Save").click()
        sessions = page.get_by_role("list", name="Sessions")
        await expect(sessions).to_contain_text("Greetings")
        async with page.expect_download() as told:
            await choose("Export as JSON")
        assert (await told.value).suggested_filename == f"{session['id']}.json"
        async with page.expect_download() as told:
            await choose("Export as Markdown")
        assert "Hello." in (await (await told.value).path()).read_text()
        await choose("Fork")
        await expect(sessions.get_by_role("listitem")).to_have_count(2)
        await page.wait_for_url(lambda url: session["id"] not in url)
        await expect(prompt(page)).to_be_focused()
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.type("nothing like it")
        await expect(sessions.get_by_role("listitem")).to_have_count(0)
        await page.get_by_role("searchbox").fill("")
        await choose("Delete")
        await button(dialog(page, "Delete"), "Delete").click()
        await expect(sessions.get_by_role("listitem")).to_have_count(1)


async def test_what_is_half_typed_stays_and_commands_files_and_earlier_prompts_are_completed(tmp_path: Path) -> None:
    config = {"command": {"hello": {"template": "say hello to $ARGUMENTS", "description": "Says hello"}}}
    turns = ({"text": "Hello you."}, {"text": "It prints."})
    async with served(project(tmp_path), *turns, config=config) as server, opened(server.url) as page:
        await prompt(page).fill("half a thou")
        await page.reload()
        await expect(prompt(page)).to_have_value("half a thou")
        await prompt(page).fill("")
        await prompt(page).press_sequentially("/hel")
        await expect(page.get_by_role("option", name="/hello")).to_be_visible()
        await page.keyboard.press("Tab")
        await page.keyboard.type("you")
        await page.keyboard.press("Enter")
        await expect(conversation(page)).to_contain_text("Hello you.")
        await prompt(page).press_sequentially("what is @a.p")
        await expect(page.get_by_role("option", name="a.py")).to_be_visible()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Enter")
        await expect(conversation(page)).to_contain_text("It prints.")
        messages = await server.get(f"/session/{page.url.partition('#')[2]}/message")
        assert any(part["type"] == "file" for message in messages for part in message["parts"])
        await page.keyboard.press("ArrowUp")
        await expect(prompt(page)).to_have_value("what is @a.py")


async def test_a_turn_is_stopped_and_a_failed_one_tried_again(tmp_path: Path) -> None:
    sleep = {"tools": [{"name": "bash", "args": {"command": "sleep 100", "description": "wait"}}]}
    broken = {"error": {"message": "no such luck", "retryable": False}}
    turns = (sleep, broken, {"text": "Better."})
    async with served(project(tmp_path), *turns) as server, opened(server.url) as page, listening(server) as heard:
        await say(page, "wait")
        await button(page, "Stop").click()
        await expect(conversation(page)).to_contain_text("Stopped.")
        await heard.wait("session.idle")
        await say(page, "fail")
        await expect(conversation(page).get_by_role("alert")).to_contain_text("no such luck")
        await button(page, "Try again").click()
        await expect(conversation(page)).to_contain_text("Better.")


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1000, "light"), (1600, "dark")])
async def test_nothing_is_wider_than_the_window(tmp_path: Path, width: int, scheme: Any) -> None:
    long = {"text": "word" * 200 + "\n\n```\n" + "code " * 200 + "\n```\n\n|a|b|\n|---|---|\n|" + "x" * 300 + "|y|"}
    options: Any = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    plan = {"tools": [{"name": "todowrite", "args": {"todos": [{**TODO, "content": "x" * 200}]}}]}
    async with served(project(tmp_path), plan, READ, EDIT, long) as server, opened(server.url, **options) as page:
        await say(page, "say much")
        await expect(conversation(page)).to_contain_text("code code")
        await expect(page.locator("#work .todos")).to_have_count(1)
        assert await page.evaluate("(work => work.scrollWidth <= work.clientWidth)(document.getElementById('work'))")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        assert await page.evaluate("document.getElementById('conversation').scrollWidth") <= width
        if width == 400:
            await button(page, "Show sessions").click()
            await expect(page.get_by_role("list", name="Sessions")).to_be_visible()


async def test_words_run_in_the_direction_of_their_language(tmp_path: Path) -> None:
    said = {"text": "Hello you.\n\nשלום `code` עולם."}
    async with served(project(tmp_path), said) as server, opened(server.url) as page:
        await say(page, "greet")
        await expect(conversation(page)).to_contain_text("Hello you.")
        assert await page.evaluate(SIDES) == ["left", "right"]


SIDES = """() => [...document.querySelectorAll('article:last-of-type .prose p')].map((paragraph) => {
  const words = document.createRange()
  words.selectNodeContents(paragraph)
  const [outer, inner] = [paragraph.getBoundingClientRect(), words.getBoundingClientRect()]
  return inner.left - outer.left < outer.right - inner.right ? 'left' : 'right'
})"""


async def test_words_nested_beyond_all_sense_are_shown_and_break_nothing(tmp_path: Path) -> None:
    said = {"text": f"{'>' * 20_000} deep\n\n```js\n{'a' * 50_000}\n```\n{'_a' * 50_000}"}
    async with served(project(tmp_path), said, {"text": "Still here."}) as server, opened(server.url) as page:
        await say(page, "nest")
        await expect(conversation(page)).to_contain_text("> deep")
        await say(page, "and now")
        await expect(conversation(page)).to_contain_text("Still here.")


async def test_the_keyboard_alone_suffices(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, READ, EDIT, {"text": "Done."}, config=ASK_EDIT) as server, opened(server.url) as page:
        await expect(prompt(page)).to_be_focused()
        await page.keyboard.type("edit it")
        await page.keyboard.press("Enter")
        await read(dialog(page, "Permission"))
        await page.keyboard.press("Control+Enter")
        await expect(conversation(page)).to_contain_text("Done.")
        await expect(prompt(page)).to_be_focused()
        await button(page, "Session menu").focus()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("ArrowDown")
        await expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(button(page, "Session menu")).to_be_focused()
        await page.keyboard.press("Alt+z")
        await expect(button(dialog(page, "Undo"), "Undo")).to_be_enabled()
        await button(dialog(page, "Undo"), "Undo").press("Enter")
        await expect(page.get_by_text("Undone from there on.")).to_be_visible()
        assert (folder / "a.py").read_text() == 'print("hi")\n'


TO_THE_TOP = """() => {
  const list = document.getElementById('conversation')
  list.scrollTo(0, 0)
  return list.querySelector('article').firstChild !== null
}"""


async def test_projects_are_chosen_and_a_long_conversation_keeps_only_what_is_near(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with served(project(tmp_path), more_folders=[other]) as server:
        session = await server.session(title="long")
        for number in range(300):
            await server.say(session, f"remark {number}\n\n" + "and so on\n" * 10, noReply=True)
        async with opened(server.url, f"#{session}") as page:
            await expect(conversation(page)).to_contain_text("remark 299")
            await page.evaluate("document.getElementById('conversation').scrollTo(0, 0)")
            await expect(page.locator("article")).to_have_count(300)
            # The page keeps the place it was at when older messages come, which may be after we go to the top.
            await page.wait_for_function(TO_THE_TOP)
            await expect(conversation(page).get_by_text("remark 0", exact=True)).to_be_in_viewport()
            assert (
                await page.evaluate("[...document.querySelectorAll('article')].filter(e => e.firstChild).length") < 80
            )
            await page.get_by_role("list", name="Projects").get_by_role("button", name="other").click()
            await expect(page.get_by_role("list", name="Sessions").get_by_role("listitem")).to_have_count(0)
            await expect(page.get_by_role("heading", name="other")).to_be_visible()


async def test_after_a_kill_the_page_comes_back_by_itself_with_all_it_had_shown(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    options = ("--port", str(free_port()), "--token-file", str(token))
    async with running(tmp_path, *options) as server, opened(server.url) as page:
        await say(page, "wait for it")
        await expect(conversation(page).get_by_role("img", name="running")).to_be_visible()
        await prompt(page).fill("half a thou")
        server.process.kill()
        await server.process.wait()
        await expect(page.get_by_text("Connection lost")).to_be_visible()
        async with running(tmp_path, *options):
            await expect(page.get_by_text("Connection lost")).to_have_count(0)
            await expect(conversation(page)).to_contain_text("wait for it")
            await expect(conversation(page)).to_contain_text("sleep 100")
            await expect(button(page, "Stop")).to_have_count(0)
            await expect(prompt(page)).to_have_value("half a thou")

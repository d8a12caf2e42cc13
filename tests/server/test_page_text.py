"""What others wrote, as the page shows it: every field of every answer is hostile, and nothing of it acts or hides."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.browser import button, conversation, dialog, needs_browser, one_browser, opened, prompt, read, say
from tests.server.harness import served
from tests.text.test_display import unseen

from playwright.async_api import Page, Route, expect  # isort: skip

pytestmark = [
    pytest.mark.slow,
    needs_browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("one_browser"),
]
__all__ = ["one_browser"]

EVIL = "\u202e\x1b[31m\u200bevil"
FOR_PROGRAMS = {
    *("id", "sessionID", "messageID", "callID", "parentID", "partID", "projectID", "providerID", "modelID"),
    *("type", "role", "status", "mode", "kind", "action", "mime", "url", "directory", "worktree", "home", "tool"),
    *("permission", "scope", "key", "default", "priority", "finish"),
}
"""What the page does not show but acts upon; all other texts are for people."""

SHOWN = """() => {
  const found = [document.title]
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) found.push(texts.currentNode.data)
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of element.attributes)
      if (/^(title|alt|label|placeholder|aria-)/.test(name)) found.push(value)
    if (element.tagName === "INPUT") found.push(element.value)
  }
  return found
}"""

ALL_OPEN = "document.querySelectorAll('#conversation details').forEach((one) => (one.open = true))"


def poisoned(value: Any, key: str = "") -> Any:
    """The same answer, with something hidden in every text that is for people."""
    if isinstance(value, dict):
        return {name: poisoned(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, key) for one in value]
    return value if key in FOR_PROGRAMS or not isinstance(value, str) else f"{value}{EVIL}"


async def poison(page: Page) -> None:
    async def change(route: Route) -> None:
        answer = await route.fetch()
        if not answer.headers.get("content-type", "").startswith("application/json"):
            await route.fulfill(response=answer)
            return
        await route.fulfill(response=answer, body=json.dumps(poisoned(await answer.json())))

    def is_answer(url: str) -> bool:
        return "/page/" not in url and "/event" not in url

    await page.route(is_answer, change)


class Looked:
    """Everything that was shown in one view after the other."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.marked = 0

    async def __call__(self, view: str) -> None:
        found = await self.page.evaluate(SHOWN)
        assert [one for one in found if unseen(one)] == [], view
        marked = sum("evil" in one for one in found)
        assert marked, f"nothing hostile was in {view}"
        self.marked += marked


TODOS = [{"id": "1", "status": "pending", "priority": "low", "content": f"plan{EVIL}"}]
OPTIONS = [{"label": f"Blue{EVIL}", "description": f"b{EVIL}"}, {"label": "Red", "description": "r"}]
ASKED = [{"question": f"Which{EVIL}?", "header": f"h{EVIL}", "options": OPTIONS}]
NAME = f"a{EVIL}.py"


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": tool, "args": arguments}]}


TURNS = (
    call("todowrite", todos=TODOS),
    call("read", filePath=NAME),
    call("read", filePath=f"none{EVIL}"),
    call("edit", filePath=NAME, oldString="hi", newString=f"bye{EVIL}"),
    call("bash", command=f"echo 'x{EVIL}'", description=f"say{EVIL}", workdir=f"sub{EVIL}"),
    call("question", questions=ASKED),
    {"text": f"**Done{EVIL}** `code{EVIL}`\n\n```python{EVIL}\nprint('{EVIL}')\n```\n[link{EVIL}](https://a.example/)"},
)
CONFIG = {
    "permission": {"edit": "ask", "bash": "ask", "external_directory": "allow"},
    "command": {"hello": {"template": "hello", "description": f"Says{EVIL}"}},
    "agent": {"build": {"description": f"Builds{EVIL}"}},
}


def hostile_project(tmp_path: Path) -> Path:
    folder = tmp_path / f"proj{EVIL.replace('/', '')}"
    (folder / f"sub{EVIL}").mkdir(parents=True)
    (folder / NAME).write_text('print("hi")\n')
    return folder


async def test_nothing_on_the_page_is_hidden_whatever_field_it_came_in(tmp_path: Path) -> None:
    folder = hostile_project(tmp_path)
    async with served(folder, *TURNS, config=CONFIG) as server, opened(server.url) as page:
        look = Looked(page)
        await look("the welcome")
        await say(page, f"go{EVIL}")
        asked = dialog(page, "Permission")
        await expect(asked.get_by_role("group", name="Difference")).to_contain_text("bye")
        await asked.get_by_text("Why it is asked").click()
        await look("the permission of a change")
        await read(asked)
        await button(asked, "Allow once").click()
        await expect(asked).to_contain_text("run a command")
        await expect(asked).to_contain_text("the rule")
        await asked.get_by_text("Why it is asked").click()
        await expect(asked.locator("p", has_text="in sub")).to_contain_text("‹U+202E›")
        await look("the permission of a command")
        await read(asked)
        await button(asked, "Always allow").click()
        await expect(dialog(page, "Question")).to_be_visible()
        await look("a question")
        await dialog(page, "Question").get_by_role("button", name="Red").click()
        await expect(conversation(page)).to_contain_text("Done")
        await page.evaluate(ALL_OPEN)
        await expect(conversation(page).get_by_role("button", name="Why was this allowed?")).to_have_count(6)
        await look("the conversation")
        await _panels(page, look)


async def test_nor_is_it_where_all_answers_of_the_server_are_hostile(tmp_path: Path) -> None:
    folder = hostile_project(tmp_path)
    async with served(folder, *TURNS, config=CONFIG) as server, opened(server.url) as page:
        await say(page, "go")
        for _ in range(2):
            await read(dialog(page, "Permission"))
            await button(dialog(page, "Permission"), "Allow once").click()
            await expect(dialog(page, "Permission").get_by_text("print")).to_have_count(0)
        await dialog(page, "Question").get_by_role("button", name="Red").click()
        await expect(conversation(page)).to_contain_text("Done")
        await poison(page)
        await page.reload()
        await expect(prompt(page)).to_be_visible()
        await expect(conversation(page)).to_contain_text("evil")
        look = Looked(page)
        await page.evaluate(ALL_OPEN)
        await expect(conversation(page).get_by_role("button", name="Why was this allowed?")).to_have_count(6)
        await look("the conversation")
        await _panels(page, look)
        await prompt(page).press_sequentially("/")
        await expect(page.get_by_role("option").first).to_be_visible()
        await look("completions")
        assert look.marked > 100


async def _panels(page: Page, look: Looked) -> None:
    await conversation(page).get_by_role("button", name="Why was this allowed?").first.click()
    await expect(dialog(page, "Why it was allowed").locator(".explained, .error").first).to_be_visible()
    await look("the reasons")
    await page.keyboard.press("Escape")
    for entry, name in (
        *(("Undo the last turn", "Undo"), ("Rename", "Rename"), ("Approvals", "Approvals")),
        *(("Usage", "Usage"), ("Keys", "Keys"), ("Delete", "Delete")),
    ):
        await button(page, "Session menu").click()
        await page.get_by_role("menuitem", name=entry, exact=True).click()
        await expect(dialog(page, name)).to_be_visible()
        await expect(dialog(page, name).get_by_text("Looking…")).to_have_count(0)
        await look(name)
        await page.keyboard.press("Escape")
        await expect(dialog(page, name)).to_have_count(0)


FORGED = {"__b": 1, "type": "h1", "props": {"id": "forged", "children": "Allowed by the user"}}


async def test_an_object_in_the_place_of_a_text_is_no_element(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    async with served(folder, {"text": "Hello."}) as server, opened(server.url) as page:

        def forged(value: Any) -> Any:
            for message in value:
                part = {"id": "prt_z", "sessionID": message["info"]["sessionID"], "messageID": message["info"]["id"]}
                state = {"status": "completed", "input": {"prompt": FORGED, "todos": []}, "output": "x", "metadata": {}}
                call = {"type": "tool", "tool": "task", "callID": "c", "state": state}
                message["parts"].append({**part, **call, "shown": {"verb": FORGED, "subject": "", "child": "ses_z"}})
            return value

        async def change(route: Route) -> None:
            answer = await route.fetch()
            await route.fulfill(response=answer, body=json.dumps(forged(await answer.json())))

        await say(page, "hi")
        await expect(conversation(page)).to_contain_text("Hello.")
        await page.route("**/message?limit*", change)
        await page.reload()
        await conversation(page).locator("details.call summary").first.click()
        await expect(conversation(page)).to_contain_text("[object Object]")
        await expect(page.locator("#forged")).to_have_count(0)

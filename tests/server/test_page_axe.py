"""The page for everybody: axe, which knows the rules of WCAG, finds nothing serious on it."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.browser import dialog, needs_browser, one_browser, opened, read, say
from tests.server.harness import served
from tests.server.test_session import ASK_EDIT, EDIT, READ, project

from playwright.async_api import Page, expect  # isort: skip

AXE = next(filter(Path.is_file, (one / "node_modules/axe-core/axe.min.js" for one in Path(__file__).parents)), None)
pytestmark = [
    pytest.mark.slow,
    needs_browser,
    pytest.mark.skipif(AXE is None, reason="there is no axe-core in node_modules: make real"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("one_browser"),
]
__all__ = ["one_browser"]

MARKDOWN = """Done, see [the docs](https://example.org/docs).

- [x] one
  - nested
- [ ] two

| name | count |
|:-----|------:|
| a    |     1 |

```diff
-old
+new
```
"""


async def serious(page: Page) -> list[tuple[str, Any]]:
    """Return the findings that keep somebody from using the page, with where they are."""
    assert AXE is not None
    await page.evaluate(AXE.read_text("utf-8"))
    findings = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (one["id"], [(node["target"], node["failureSummary"]) for node in one["nodes"]])
        for one in findings["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
async def test_nothing_on_the_page_keeps_anybody_out(tmp_path: Path, scheme: Any, width: int) -> None:
    look = {"color_scheme": scheme, "viewport": {"width": width, "height": 844}, "reduced_motion": "reduce"}
    async with (
        served(project(tmp_path), READ, EDIT, {"text": MARKDOWN}, config=ASK_EDIT) as server,
        opened(server.url, **look) as page,
    ):
        assert await serious(page) == [], "the first screen"
        await say(page, "edit it")
        asked = dialog(page, "Permission")
        await expect(asked.get_by_role("group", name="Difference")).to_contain_text('print("bye")')
        assert await serious(page) == [], "a question"
        await read(asked)
        await asked.get_by_role("button", name="Allow once").click()
        await expect(page.get_by_text("nested")).to_be_visible()
        assert await serious(page) == [], "an answer"

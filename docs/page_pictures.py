"""Takes the pictures of docs/server.md from the page itself, while the demo's conversation is played in it.

python docs/page_pictures.py      needs playwright and chromium
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Page, async_playwright, expect

from toolwright.demo.project import write_project
from toolwright.demo.script import PROMPT, turns

HERE = Path(__file__).parent


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "shop")
        write_project(folder)
        settings = Path(home, ".config", "toolwright")
        settings.mkdir(parents=True)
        script = Path(home, "demo.json")
        title = {"kind": "title", "text": "Total of a basket"}
        used = [{**turn, "usage": {"input": 6000 + 2500 * at, "output": 300}} for at, turn in enumerate(turns())]
        script.write_text(json.dumps({"turns": [title, *used]}))
        permission = {"edit": "ask", "bash": {"*": "ask"}}
        (settings / "toolwright.json").write_text(json.dumps({"model": f"scripted/{script}", "permission": permission}))
        server = subprocess.Popen(
            [sys.executable, "-m", "toolwright", "serve", "--port", "0"],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": home},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert server.stdout is not None
        try:
            url = next(line.split()[1] for line in server.stdout if line.startswith("open "))
            asyncio.run(_take(url))
        finally:
            server.terminate()
            server.wait()


async def _take(url: str) -> None:
    async with async_playwright() as playwright:
        program = shutil.which("chromium")
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        await page.goto(url)
        await page.get_by_role("textbox", name="Prompt").fill(PROMPT)
        await page.keyboard.press("Enter")
        asked = page.get_by_role("dialog", name="Permission")
        await asked.get_by_role("button", name="Allow once").click()
        await expect(asked.get_by_role("group", name="Difference")).to_be_visible()
        await expect(asked).to_contain_text("the rule")
        await page.set_viewport_size({"width": 1000, "height": 700})
        await _save(page, "page-permission")
        await page.set_viewport_size({"width": 1280, "height": 800})
        await asked.get_by_role("button", name="Allow once").click()
        await expect(asked).to_contain_text("rm -rf")
        await page.emulate_media(color_scheme="dark")
        await page.set_viewport_size({"width": 400, "height": 780})
        await expect(asked).to_contain_text("the rule")
        await _save(page, "page-phone")
        await page.emulate_media(color_scheme="light")
        await page.set_viewport_size({"width": 1280, "height": 800})
        while not await page.get_by_text("both tests pass").is_visible():
            if await asked.is_visible():
                await asked.get_by_role("button", name="Allow once").click()
            await page.wait_for_timeout(100)
        await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        await _save(page, "page")
        await browser.close()


async def _save(page: Page, name: str) -> None:
    from PIL import Image

    await page.wait_for_timeout(300)
    file = HERE / f"{name}.png"
    await page.screenshot(path=file)
    with Image.open(file) as image:
        image.convert("RGB").save(file, optimize=True)


if __name__ == "__main__":
    main()

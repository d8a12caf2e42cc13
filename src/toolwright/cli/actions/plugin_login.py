"""A login that a plugin brings, at the terminal: its questions, the address, the code that comes back."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

from toolwright.app.logins import way_named
from toolwright.cli.options import note
from toolwright.errors import UsageError
from toolwright.extensions.plugin_logins import PluginLogins, Way
from toolwright.text.display import visible


async def log_in_by_plugin(logins: PluginLogins, provider: str, wanted: str) -> None:
    """Log in to a provider, by the way that is wanted, or that the person chooses."""
    ways = logins.ways(provider)
    at = way_named(ways, wanted) if wanted else await _chosen(ways)
    if not ways[at].authorizes:
        raise UsageError(f"{ways[at].label} is a key that is stored as it is: tw auth {provider}.")
    inputs: dict[str, str] = {}
    while asked := await logins.prompts(provider, at, inputs):
        inputs[str(asked[0]["key"])] = await _answered(asked[0])
    begun = await logins.begin(provider, at, inputs)
    if begun.done:
        return
    note(f"log in at {visible(begun.url, lines=False)}")
    if begun.instructions:
        note(visible(begun.instructions))
    await logins.finish(provider, at, await _read("Code: ") if begun.method == "code" else "")


async def _chosen(ways: Sequence[Way]) -> int:
    if len(ways) == 1:
        return 0
    for number, way in enumerate(ways, 1):
        note(f"{number}  {visible(way.label, lines=False)}")
    return way_named(ways, await _read("Which of them: "))


async def _answered(prompt: dict[str, Any]) -> str:
    message = visible(str(prompt.get("message") or prompt["key"]), lines=False)
    options = prompt.get("options")
    if prompt.get("type") != "select" or not isinstance(options, list) or not options:
        return await _read(f"{message} ")
    for number, option in enumerate(options, 1):
        note(f"{number}  {visible(str(option.get('label')), lines=False)}")
    choice = await _read(f"{message} ")
    by_name = {str(number): one for number, one in enumerate(options, 1)} | {
        str(one.get("label")): one for one in options
    }
    if choice not in by_name:
        raise UsageError(f"{choice!r} is none of them: {', '.join(map(str, by_name))}.")
    return str(by_name[choice].get("value"))


async def _read(words: str) -> str:
    note(words.strip())
    line: str = (await asyncio.to_thread(sys.stdin.readline)).strip()
    if not line:
        raise UsageError("Nothing was entered; nothing was stored.")
    return line

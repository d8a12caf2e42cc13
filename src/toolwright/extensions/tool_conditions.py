"""Conditions of a workspace from its settings and environment: which tools can be offered, how long output is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolwright.calls.truncate import OutputLimits, Truncator
from toolwright.definition import Client, Offer
from toolwright.extension import Extension
from toolwright.machine.folders import Folders
from toolwright.settings import Settings


def given_settings(config: Mapping[str, Any] | None, extensions: Sequence[Extension]) -> dict[str, Any]:
    """Return the settings of the caller and the extensions, as one more configuration."""
    settings: dict[str, Any] = {}
    for source in (*(extension.config() for extension in extensions), config or {}):
        for key, value in source.items():
            both = isinstance(value, Mapping) and isinstance(settings.get(key), Mapping)
            settings[key] = {**settings[key], **value} if both else value
    return settings


def circumstances(settings: Settings, client: Client, environment: Mapping[str, str], *, attended: bool) -> Offer:
    experimental = settings.experimental

    def flag(setting: bool, *variables: str) -> bool:
        names = (*variables, "EXPERIMENTAL")
        named = (environment.get(f"{family}_{name}") for family in ("OPENCODE", "TOOLWRIGHT") for name in names)
        return setting or any(map(is_true, named))

    service = environment.get("TOOLWRIGHT_SEARCH_URL")
    return Offer(
        client=client,
        attended=attended,
        web_search=bool(service or settings.search.url)
        or flag(experimental.web_search, "ENABLE_EXA", "EXPERIMENTAL_EXA"),
        code_search=bool(service) or settings.search.backend != "searxng",
        lsp=settings.lsp is not False or flag(experimental.lsp_tool, "EXPERIMENTAL_LSP_TOOL"),
        batch=experimental.batch_tool,
        plan_mode=flag(experimental.plan_mode, "EXPERIMENTAL_PLAN_MODE"),
    )


def is_true(text: str | None) -> bool:
    return (text or "").lower() in ("1", "true")


def truncator_of(settings: Settings, folders: Folders, root: Path) -> Truncator:
    section = settings.truncate
    general = OutputLimits(max_lines=section.max_lines, max_bytes=section.max_bytes, direction=section.direction)
    return Truncator(
        folder=folders.outputs_of(root),
        everything=folders.tool_output,
        limits=general,
        by_agent={name: _limits(limits, general) for name, limits in section.agent.items()},
        by_tool={name: _limits(limits, general) for name, limits in section.tool.items()},
    )


def _limits(settings: Any, otherwise: OutputLimits) -> OutputLimits:
    return OutputLimits(
        max_lines=settings.max_lines or otherwise.max_lines,
        max_bytes=settings.max_bytes or otherwise.max_bytes,
        direction=settings.direction or otherwise.direction,
    )

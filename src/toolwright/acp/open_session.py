"""A session that the editor has open: whose it is, what is chosen for it, and how its paths look from there."""

import asyncio
from contextlib import suppress
from pathlib import Path

from toolwright.acp.updates import Updates
from toolwright.agents import Agent
from toolwright.errors import ToolwrightError, UsageError
from toolwright.jsontypes import Json
from toolwright.models.families import variants
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.workspace import Workspace

NO_VARIANT = "default"
NOT_BEGUN = 0.01
"""Seconds until it is looked again whether a turn that is to be cancelled has begun."""


@record(slots=True, kw_only=True)
class OpenSession:
    """One of the editor's sessions."""

    workspace: Workspace
    session: Session
    updates: Updates
    own: bool = False
    """Whether the workspace is for this session alone, and closed with it."""
    model: str = ""
    """What the user has chosen for it; the usual one if empty."""
    variant: str = ""
    announced: list[Json] | None = None
    """What the editor was told that can be called."""
    prompted: object = None
    """Stands for the prompt that is being answered, if one is."""

    def shown(self, path: Path) -> str:
        return self.updates.shown(path)

    def about(self, path: Path) -> Json:
        """What every request about a file says."""
        return {"sessionId": self.session.id, "path": self.shown(path)}

    async def cancel(self) -> None:
        """Stop what is under way. A prompt may have come just before, and its turn not have begun yet."""
        prompted = self.prompted
        await self.session.abort()
        while prompted is not None and self.prompted is prompted:
            await asyncio.sleep(NOT_BEGUN)
            await self.session.abort()

    def state(self) -> Json:
        """Modes, models and options: older editors read the first two, newer ones the last."""
        modes = [
            {"id": one.name, "name": one.name.capitalize(), "description": one.description} for one in self.modes()
        ]
        model, names = self.current_model, self._model_names()
        return {
            "modes": {"currentModeId": self.session.agent, "availableModes": modes},
            "models": {"currentModelId": model, "availableModels": [{"modelId": one, "name": one} for one in names]},
            "configOptions": self.options(),
        }

    def options(self) -> list[Json]:
        modes = [
            {"value": one.name, "name": one.name.capitalize(), "description": one.description} for one in self.modes()
        ]
        models = [{"value": name, "name": name} for name in self._model_names()]
        found = [
            _option("model", "Model", self.current_model, models),
            _option("mode", "Mode", self.session.agent, modes),
        ]
        if known := self.variants():
            degrees = [{"value": name, "name": name.capitalize()} for name in (NO_VARIANT, *known)]
            current = self.variant or NO_VARIANT
            found.append(_option("variant", "Thinking", current, degrees) | {"category": "thought_level"})
        return found

    @property
    def current_model(self) -> str:
        return self.model or self.workspace.default_model.partition(",")[0].strip()

    def go_on_as_before(self) -> None:
        """Choose what the last prompt was answered with, if it can still be had."""
        last = self.session.conversation.last_user()
        if last is None or str(last.model) == self.current_model:
            return
        with suppress(ToolwrightError):
            self.workspace.connections.open(str(last.model))
            self.model, self.variant = str(last.model), last.variant or ""

    def choose_mode(self, name: str) -> None:
        there = [one.name for one in self.modes()]
        if name not in there:
            raise UsageError(f"There is no mode {name[:40]!r}: {', '.join(there)}.")
        self.session.agent = name

    def choose_model(self, name: str) -> None:
        self.workspace.connections.open(name)
        self.model = name
        if self.variant not in self.variants():
            self.variant = ""

    def choose_variant(self, name: str) -> None:
        there = [NO_VARIANT, *self.variants()]
        if name not in there:
            raise UsageError(f"There is no variant {name[:40]!r}: {', '.join(there)}.")
        self.variant = "" if name == NO_VARIANT else name

    def modes(self) -> list[Agent]:
        """The agents that a person can talk to."""
        return [one for one in self.workspace.agents.visible() if one.mode != "subagent"]

    def variants(self) -> list[str]:
        try:
            return list(variants(self.workspace.connections.open(self.current_model).info))
        except ToolwrightError:
            return []

    def commands(self) -> list[Json]:
        """What can be called by `/name`, as the editor offers it."""
        listed = [
            {"name": one.name, "description": one.description or one.name}
            | ({"input": {"hint": " ".join(one.hints)}} if one.hints else {})
            for one in self.workspace.commands.all()
        ]
        names = {one["name"] for one in listed}
        listed += [
            {"name": one.name, "description": one.description, "input": {"hint": "what to use it for"}}
            for one in self.workspace.skills.all().values()
            if one.name not in names
        ]
        return [*listed, {"name": "compact", "description": "put a summary in the place of the conversation"}]

    def with_skill(self, text: str) -> str:
        """A prompt that begins with the name of a skill, in words that have it loaded; any other as it is."""
        name, _, rest = text.removeprefix("/").partition(" ")
        if not text.startswith("/") or name.strip() not in self.workspace.skills.all():
            return text
        return f"Load the skill {name.strip()} with the skill tool and do as it says.\n\n{rest}".strip()

    def _model_names(self) -> list[str]:
        from toolwright.server.shapes import providers_json

        found = providers_json(self.workspace)
        ready = (one for one in found["all"] if one["id"] in found["connected"])
        names = (f"{one['id']}/{model}" for one in ready for model in one["models"])
        return list(dict.fromkeys([self.current_model, *names]))


def _option(name: str, title: str, current: str, choices: list[Json]) -> Json:
    return {
        "id": name,
        "name": title,
        "category": name,
        "type": "select",
        "currentValue": current,
        "options": choices,
    }

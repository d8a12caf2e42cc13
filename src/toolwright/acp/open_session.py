"""A session that the editor has open: whose it is, what is chosen for it, and how its paths look from there."""

import asyncio
from contextlib import suppress
from pathlib import Path

from toolwright.acp.updates import Updates
from toolwright.agents import Agent
from toolwright.app.desk import Desk, last_prompt
from toolwright.app.models import ready_models
from toolwright.app.own import own_commands
from toolwright.errors import ToolwrightError, UsageError
from toolwright.models.known.families import variants
from toolwright.protocols.json_types import Json
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
    desk: Desk
    """Choices of the user for it."""
    own: bool = False
    """True if the workspace is for this session alone, and closed with it."""
    announced: list[Json] | None = None
    """Commands that the editor was last told of."""
    prompted: object = None
    """Stands for the prompt that is being answered, if one is."""

    def editor_path(self, path: Path) -> str:
        return self.updates.editor_path(path)

    def about(self, path: Path) -> Json:
        """Return the parameters of every request about a file."""
        return {"sessionId": self.session.id, "path": self.editor_path(path)}

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
            "modes": {"currentModeId": self.desk.agent, "availableModes": modes},
            "models": {"currentModelId": model, "availableModels": [{"modelId": one, "name": one} for one in names]},
            "configOptions": self.options(),
        }

    def options(self) -> list[Json]:
        modes = [
            {"value": one.name, "name": one.name.capitalize(), "description": one.description} for one in self.modes()
        ]
        models = [{"value": name, "name": name} for name in self._model_names()]
        options = [
            _option("model", "Model", self.current_model, models),
            _option("mode", "Mode", self.desk.agent, modes),
        ]
        if known := self.variants():
            degrees = [{"value": name, "name": name.capitalize()} for name in (NO_VARIANT, *known)]
            current = self.desk.variant or NO_VARIANT
            options.append(_option("variant", "Thinking", current, degrees) | {"category": "thought_level"})
        return options

    @property
    def current_model(self) -> str:
        return self.desk.model or self.workspace.default_model.partition(",")[0].strip()

    async def restore_choices(self) -> None:
        """Choose what the last prompt was answered with, if it can still be had."""
        last = last_prompt(await self.desk.open(self.session.id))
        if last is None or str(last.model) == self.current_model:
            return
        with suppress(ToolwrightError):
            self.workspace.connections.open(str(last.model))
            self.desk.model = str(last.model)

    def choose_mode(self, name: str) -> None:
        there = [one.name for one in self.modes()]
        if name not in there:
            raise UsageError(f"There is no mode {name[:40]!r}: {', '.join(there)}.")
        self.desk.agent = name

    def choose_model(self, name: str) -> None:
        self.workspace.connections.open(name)
        self.desk.model = name
        if self.desk.variant not in self.variants():
            self.desk.variant = ""

    def choose_variant(self, name: str) -> None:
        there = [NO_VARIANT, *self.variants()]
        if name not in there:
            raise UsageError(f"There is no variant {name[:40]!r}: {', '.join(there)}.")
        self.desk.variant = "" if name == NO_VARIANT else name

    def modes(self) -> list[Agent]:
        """The agents that a person can talk to."""
        return [one for one in self.workspace.agents.visible() if one.mode != "subagent"]

    def variants(self) -> list[str]:
        try:
            return list(variants(self.workspace.connections.open(self.current_model).info))
        except ToolwrightError:
            return []

    def commands(self) -> list[Json]:
        """Return the commands called by `/name`, as the editor offers them."""
        named = self.workspace.commands.all()
        listed = [
            {"name": one.name, "description": one.description or one.name}
            | ({"input": {"hint": " ".join(one.hints)}} if one.hints else {})
            for one in named
        ]
        taken = {one.name for one in named}
        ours = own_commands(self.desk.room).values()
        return [*listed, *({"name": one.name, "description": one.help} for one in ours if one.name not in taken)]

    def _model_names(self) -> list[str]:
        return list(dict.fromkeys([self.current_model, *ready_models(self.workspace)]))


def _option(name: str, title: str, current: str, choices: list[Json]) -> Json:
    return {
        "id": name,
        "name": title,
        "category": name,
        "type": "select",
        "currentValue": current,
        "options": choices,
    }

"""Checks of what a program gives, made where it is given: a mistake of types is told at once and in a sentence."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolwright.errors import UsageError
from toolwright.protocols.json_types import Json


def check_model(model: object) -> None:
    """Raise UsageError for what is neither the name of a model nor one."""
    if model is None or isinstance(model, str):
        return
    from toolwright.models.model import Model

    wanted = 'give "provider/model", or an object that has info, stream and close'
    if isinstance(model, type):
        raise UsageError(f"model= is the class {model.__name__}: make one of it, or {wanted}.")
    if lacking := lacks(model, Model):
        raise UsageError(f"model={model!r:.60} is no model, for it has no {lacking[0]}: {wanted}.")


def check_agent_given(agent: object, name: str = "agent") -> None:
    """Raise UsageError for what is neither the name of an agent nor one."""
    if isinstance(agent, str) and name == "agent":
        return
    from toolwright.session.agent import Agent

    if not isinstance(agent, Agent):
        raise UsageError(f"{name}={agent!r:.60} is no agent: give Agent(name=..., prompt=...), or the name of one.")


def check_words(**words: object) -> None:
    """Raise UsageError for what is no text where only a text can be meant."""
    for name, word in words.items():
        if not isinstance(word, str):
            raise UsageError(f"{name}={word!r:.60} is no text.")


def check_options(options: Mapping[str, Any]) -> None:
    """Raise TypeError for a keyword that no prompt takes, as Python does for any other."""
    from toolwright.session.prompt import PromptOptions

    if unknown := options.keys() - PromptOptions.__annotations__.keys() - {"agent"}:
        known = ", ".join((*PromptOptions.__annotations__, "agent", "output"))
        raise TypeError(f"prompt() has no option {min(unknown)!r}. There are: {known}.")


def check_prompt(text: object, files: object, tools: object, model: object, **words: object) -> None:
    """Raise UsageError for a prompt that cannot be meant."""
    if not isinstance(text, str):
        raise UsageError(f"A prompt is text, not {text!r:.60}.")
    check_words(**words)
    for name, names in (("files", files), ("tools", tools)):
        if isinstance(names, str | bytes | Path) or not isinstance(names, Iterable | None):
            raise UsageError(f"{name}={names!r:.60} is no list of names: write {name}=[...].")
    check_model(model)


def as_arguments(tool: str, misplaced: tuple[object, ...], arguments: Json) -> Json:
    """The arguments of a call as JSON. UsageError for those without a name, and for what JSON cannot say."""
    from toolwright.forms.values import jsonable

    check_words(tool=tool)
    if misplaced:
        raise UsageError(
            f"The arguments of {tool} need their names: call({tool!r}, filePath=...), or call({tool!r}, **arguments)."
        )
    try:
        return {name: jsonable(value) for name, value in arguments.items()}
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The arguments of {tool} cannot be sent as JSON: {error}.") from error


def lacks(thing: object, protocol: type) -> list[str]:
    """List what a protocol asks for and a thing has not."""
    kinds = [kind for kind in protocol.__mro__ if kind.__module__.startswith("toolwright.")]
    names: dict[str, Any] = {}
    for kind in reversed(kinds):
        names |= {name: None for name in (*vars(kind), *getattr(kind, "__annotations__", {})) if name[0] != "_"}
    return [name for name in names if not hasattr(thing, name)]

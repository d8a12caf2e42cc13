"""Our own `/` commands about who answers: the model, its provider, the account there, how hard it thinks, the agent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolwright.app.desk import Desk
from toolwright.app.model_choices import connectable, ordered
from toolwright.app.outcome import Act, AtScreen, Outcome, Pick, brief
from toolwright.config.auth import ACCOUNT, account_of
from toolwright.errors import UsageError

if TYPE_CHECKING:
    from toolwright.app.model_choices import ProviderChoice

USUAL = "usual"
"""The variant of a model that is not told how hard to think, and the account that has no name."""
ANOTHER = "another"


async def model(desk: Desk, name: str) -> Outcome:
    """List the models, or take one."""
    if "/" not in name:
        return await _models(desk, lambda one: name in one)
    choices = await desk.project.model_choices()
    if any(one.full_name == name and not one.ready for one in choices):
        return await connect(desk, name.partition("/")[0])
    desk.choose_model(name)
    await desk.project.remember_model(name)
    return brief(f"{name} from the next prompt on")


async def _models(desk: Desk, fits: Callable[[str], bool]) -> Pick:
    """Offer the models whose full names fit."""
    current = await desk.next_model()
    models = ordered(await desk.project.model_choices(), await desk.project.recent_models(), current)
    return Pick(
        title="Models (dollars for a million tokens)",
        entries=[(one.full_name, one.line) for one in models if fits(one.full_name)],
        chosen=current,
        hint="/model PROVIDER/MODEL takes one from the next prompt on",
    )


async def connect(desk: Desk, what: str) -> Outcome:
    """Connect a model: one that runs on this machine, or a provider by a key or a login."""
    name, _, way = what.partition(" ")
    if "/" in name:
        return await model(desk, name)
    providers = await desk.project.providers()
    if not name:
        return await _connectable(desk, providers)
    account = next((one for one in providers if one.id == name), None)
    service = next((one for one in providers if one.id == name.partition(ACCOUNT)[0]), None)
    if service is None:
        raise UsageError(f"There is no provider {name!r}. /connect lists them.")
    if way in _WAYS:
        return AtScreen(act=_WAYS[way], text=name)
    if account is not None and account.ready:
        more = [(f"{service.id} account", "another key or account, with a name of its own")]
        models = await _models(desk, lambda one: one.startswith(f"{name}/"))
        return replace(models, title=f"Models of {service.name}", entries=[*models.entries, *more])
    if service.login:
        ways = [(f"{name} key", "paste a key"), (f"{name} login", "log in")]
        return Pick(title=f"Connect {service.name}", entries=ways, hint="/connect PROVIDER key, or login")
    return AtScreen(act="connect", text=name)


_WAYS: Mapping[str, Act] = {"key": "connect", "login": "login", "account": "account"}
"""Ways to connect a provider, with what a surface does for each."""


async def _connectable(desk: Desk, providers: "Sequence[ProviderChoice]") -> Pick:
    local = (await desk.project.usable_models()).local
    where = "" if local else " (no model server runs on this machine)"
    return Pick(title=f"Connect a model{where}", entries=list(connectable(providers, local)), hint="/connect PROVIDER")


async def account(desk: Desk, name: str) -> Outcome:
    """Choose the key or account that answers the next prompts of this session."""
    current, _, model_id = (await desk.next_model()).partition("/")
    service = current.partition(ACCOUNT)[0]
    known = {one.id: one for one in await desk.project.providers() if one.service == service and one.ready}
    if not known:
        raise UsageError("There is no key yet; /connect stores one.")
    if name == ANOTHER:
        return AtScreen(act="account", text=service)
    if not name:
        entries = [(one.id.partition(ACCOUNT)[2] or USUAL, one.name) for one in known.values()]
        chosen = current.partition(ACCOUNT)[2] or USUAL
        more = (ANOTHER, "another key or account, with a name of its own")
        return Pick(title="Accounts", entries=[*entries, more], chosen=chosen, hint="/account NAME takes one")
    wanted = service if name == USUAL else account_of(service, name)
    if wanted not in known:
        names = ", ".join(one.partition(ACCOUNT)[2] or USUAL for one in known)
        raise UsageError(f"There is no account {name!r} at {service}. There are: {names}. /connect {wanted} adds it.")
    desk.model = f"{wanted}/{model_id}"
    return brief(f"{desk.model} from the next prompt on")


async def variant(desk: Desk, name: str) -> Outcome:
    """Choose the effort of the model's reasoning."""
    current = await desk.next_model()
    known = await desk.project.variants(current)
    if not known:
        raise UsageError(f"{current or 'No model'} has no reasoning effort to choose.")
    if not name:
        entries = [(USUAL, "default"), *((one, one) for one in known)]
        return Pick(title="Reasoning effort", entries=entries, chosen=desk.variant or USUAL, hint="/variant NAME")
    if name not in (USUAL, *known):
        raise UsageError(f"There is no variant {name!r}. There are: {', '.join(known)}.")
    desk.variant = "" if name == USUAL else name
    return brief(f"reasoning effort: {'default' if name == USUAL else name}, from the next prompt on")


async def agent(desk: Desk, name: str) -> Outcome:
    """List the agents, or take one."""
    agents = {one.name: one.description for one in await desk.project.agents()}
    if not name:
        entries = [(one, f"{one:<12} {text}") for one, text in agents.items()]
        return Pick(title="Agents", entries=entries, chosen=desk.agent, hint="/agent NAME takes one")
    if name not in agents:
        raise UsageError(f"There is no agent {name!r}. There are: {', '.join(agents)}.")
    desk.agent = name
    return brief(f"{name} from the next prompt on")

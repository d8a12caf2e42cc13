"""From a name and a key to a model."""

import subprocess
import sys
from typing import Any

import pytest

from tests.models.conftest import CHAT, HELLO, Format, events_of, text_of
from tests.models.replies import Reply
from tests.models.server import Server
from toolwright.config.auth import checked_key
from toolwright.errors import ConfigError, UsageError
from toolwright.models.connect import Connections, ProviderKey, accounts_of, connect, find_key
from toolwright.models.known.catalog import Catalog
from toolwright.models.known.profiles import profile_of
from toolwright.models.model import ModelError, ReplySettings

ANTHROPIC = Catalog().provider("anthropic")
FAR_FUTURE = 32_503_680_000_000
"""The year 3000 in milliseconds."""


def provider(**options: Any) -> Any:
    return Catalog({"anthropic": {"options": options}}).provider("anthropic")


def test_the_key_of_the_configuration_comes_first() -> None:
    env, record = {"ANTHROPIC_API_KEY": "env"}, {"type": "api", "key": "file"}
    assert find_key(provider(apiKey="config"), env, record) == ProviderKey(value="config")
    assert find_key(ANTHROPIC, env, record) == ProviderKey(value="env")
    assert find_key(ANTHROPIC, {}, record) == ProviderKey(value="file")


@pytest.mark.parametrize(
    ("record", "key"),
    [
        ({"type": "api", "key": "k"}, ProviderKey(value="k")),
        ({"type": "oauth", "access": "a", "refresh": "r", "expires": 0}, ProviderKey(value="a", bearer=True)),
        ({"type": "oauth", "access": "a", "expires": FAR_FUTURE}, ProviderKey(value="a", bearer=True)),
        ({"type": "wellknown", "key": "NAME", "token": "t"}, ProviderKey(value="t")),
    ],
)
def test_every_kind_of_auth_record_has_a_key(record: dict[str, Any], key: ProviderKey) -> None:
    assert find_key(ANTHROPIC, {}, record) == key


def test_an_expired_login_says_so() -> None:
    with pytest.raises(ModelError, match=r"has expired\. Run `tw auth anthropic` again") as caught:
        find_key(ANTHROPIC, {}, {"type": "oauth", "access": "a", "expires": 1000})
    assert caught.value.kind == "auth"


def test_a_missing_key_says_where_it_could_be() -> None:
    with pytest.raises(ModelError) as caught:
        connect("anthropic", "claude-sonnet-4-5")
    assert str(caught.value) == ("There is no key for Anthropic. Set ANTHROPIC_API_KEY, or run `tw auth anthropic`.")
    assert caught.value.kind == "auth"


def test_an_account_with_a_name_has_the_models_of_its_provider_and_a_key_of_its_own() -> None:
    records = {"anthropic": {"type": "api", "key": "home"}, "anthropic@work": {"type": "api", "key": "office"}}
    settings = {"anthropic": {"options": {"apiKey": "configured", "timeout": 5}}}
    catalog = Catalog(settings, accounts=accounts_of(records))
    names = [one.name for one in catalog.providers()]
    assert names[names.index("Anthropic") + 1] == "Anthropic (work)"
    provider = catalog.provider("anthropic@work")
    assert provider.options == {"timeout": 5}
    env = {"ANTHROPIC_API_KEY": "environment"}
    assert find_key(provider, env, records["anthropic@work"]) == ProviderKey(value="office")
    with pytest.raises(ModelError, match=r"no key for Anthropic \(other\)\. Run `tw auth anthropic@other`"):
        find_key(catalog.provider("anthropic@other"), env, None)
    plain, paid = catalog.find("anthropic/claude-sonnet-4-5"), catalog.find("anthropic@work/claude-sonnet-4-5")
    assert paid.full_name == "anthropic@work/claude-sonnet-4-5"
    assert (paid.prices, paid.limits, profile_of(paid)) == (plain.prices, plain.limits, profile_of(plain))


def test_a_local_server_or_ones_own_address_needs_no_key() -> None:
    assert find_key(Catalog().provider("ollama"), {}, None) is None
    assert find_key(provider(baseURL="http://localhost:1/v1"), {}, None) is None


def test_a_key_for_azure_goes_to_no_other_address_than_the_one_configured() -> None:
    with pytest.raises(ConfigError, match=r"provider\.azure has no address\. Set its options\.baseURL"):
        connect("azure", "gpt-6.1-sol", None, {"AZURE_OPENAI_API_KEY": "k"})


async def test_a_login_token_is_sent_as_one(server: Server, form: Format) -> None:
    server.stream(*form.write(Reply(text="x")))
    config = {"options": {"baseURL": server.url}, "api": form.api}
    await events_of(connect("mine", "m", config, {}, {"type": "oauth", "access": "token"}))
    headers = server.seen[-1].headers
    assert headers["authorization"] == "Bearer token"
    assert not {"x-api-key", "x-goog-api-key"} & headers.keys()


def test_a_provider_without_an_address_is_told_to_have_one() -> None:
    with pytest.raises(ConfigError, match=r"provider.mine has no address. Set its options.baseURL"):
        connect("mine", "m", {})


def test_a_format_nobody_knows_is_told_by_name() -> None:
    with pytest.raises(ConfigError, match="speaks '@acme/other', which is not known here"):
        connect("mine", "m", {"npm": "@acme/other", "options": {"baseURL": "http://host/v1"}})


def test_an_unknown_model_is_told_before_anything_is_sent() -> None:
    with pytest.raises(UsageError, match="Did you mean 'claude-opus-4-5'"):
        connect("anthropic", "claude-opsu-4-5", env={"ANTHROPIC_API_KEY": "k"})


async def test_models_of_one_provider_share_their_connections(server: Server) -> None:
    server.stream(*CHAT.write(Reply(text="x")))
    catalog = Catalog({"mine": {"options": {"baseURL": server.url}}})
    connections = Connections(catalog, env={}, auth={})
    assert connections.open("mine/a") is connections.open("mine/a")
    for name in ("mine/a", "mine/b"):
        model = connections.open(name)
        async for _ in model.stream(HELLO, (), ReplySettings()):
            pass
    assert [seen.body["model"] for seen in server.seen] == ["a", "b"]
    assert server.connections == 1
    await connections.close()
    assert text_of(await events_of(connections.open("mine/a"))) == "x"


def test_connecting_loads_no_http_library() -> None:
    """The library takes a tenth of a second; only the first request pays for it."""
    code = (
        "import sys; from toolwright.models.connect import connect;"
        "connect('ollama', 'm'); connect('anthropic', 'claude-opus-4-5', {'options': {'apiKey': 'k'}});"
        "assert not {'httpx2', 'difflib', 'email.utils', 'pydantic_ai'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("typed", ["", "  ", "a key", "schlüssel", "a\x07"])
def test_what_can_be_no_key_is_not_stored(typed: str) -> None:
    with pytest.raises(UsageError, match="othing was stored"):
        checked_key(typed)


def test_a_key_is_stored_without_the_blanks_around_it() -> None:
    assert checked_key(" sk-1_x \n") == "sk-1_x"

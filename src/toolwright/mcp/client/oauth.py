"""OAuth as MCP servers use it: who may log us in, who we are there, and tokens for codes.

Everything that the other side says is checked before it is followed: the issuer must be the one that was asked for,
every address must be safe to send secrets to, and a code is only good with the proof that we have asked for it.
"""

import base64
import hashlib
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from toolwright.errors import ToolError
from toolwright.mcp.client.challenges import parameters_of
from toolwright.mcp.client.tokens import LoginGrant
from toolwright.mcp.protocol import object_of, text_of
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record

if TYPE_CHECKING:
    import httpx2

LARGEST = 1_000_000
"""Bytes of an answer that are read."""
NAME = "toolwright"
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class LoginFailed(ToolError):
    """A login that did not come about, and why."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "denied")


@record(frozen=True, slots=True, kw_only=True)
class Issuer:
    """The login server of an MCP server."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str = ""
    says_who: bool = False
    """True if it names itself when it sends the person back."""
    takes_documents: bool = False
    """True if a client may be known by the address of a document about it."""
    auth_methods: tuple[str, ...] = ("client_secret_basic",)
    scope: str = ""
    """Scope that the server says is needed."""


async def find_issuer(http: "httpx2.AsyncClient", url: str) -> Issuer:
    """Ask the server who logs people in for it, and ask that one how."""
    challenge = await _challenge(http, url)
    about = await _about_resource(http, url, challenge.get("resource_metadata", ""))
    servers = about.get("authorization_servers")
    named = text_of(servers[0]) if isinstance(servers, list) and servers else ""
    login_server = await _about_issuer(http, named or _origin(url), url, required=bool(named))
    listed = about.get("scopes_supported")
    scope = " ".join(map(text_of, listed)) if isinstance(listed, list) else ""
    return replace(login_server, scope=challenge.get("scope") or scope)


async def _challenge(http: "httpx2.AsyncClient", url: str) -> Mapping[str, str]:
    """Return what the server says when it refuses a request without a login."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"accept": "application/json, text/event-stream"}
    async with http.stream("POST", url, json=body, headers=headers) as response:
        return parameters_of(response.headers.get("www-authenticate", ""))


async def _about_resource(http: "httpx2.AsyncClient", url: str, named: str) -> Json:
    origin, path = _origin(url), urlsplit(url).path.rstrip("/")
    well_known = f"{origin}/.well-known/oauth-protected-resource"
    places = [named] if named else list(dict.fromkeys((f"{well_known}{path}", well_known)))
    for place in places:
        about = await _fetched(http, _safe(place, url))
        if about is None:
            continue
        resource = text_of(about.get("resource"))
        if resource and not _covers(resource, url):
            raise LoginFailed(f"{place} speaks for {resource}, not for {url}. Nobody was logged in.")
        return about
    return {}


async def _about_issuer(http: "httpx2.AsyncClient", issuer: str, url: str, *, required: bool) -> Issuer:
    _safe(issuer, url)
    origin, path = _origin(issuer), urlsplit(issuer).path.rstrip("/")
    kinds = ("oauth-authorization-server", "openid-configuration")
    places = [f"{origin}/.well-known/{kind}{path}" for kind in kinds]
    places += [f"{issuer.rstrip('/')}/.well-known/openid-configuration"] if path else []
    for place in places:
        metadata = await _fetched(http, place)
        if metadata is not None:
            return _issuer(metadata, issuer, url)
    if required:
        raise LoginFailed(f"{issuer} does not say how people log in there.")
    # As the first version of the protocol had it: the server itself, at the usual places.
    return Issuer(
        issuer=issuer,
        authorization_endpoint=f"{origin}/authorize",
        token_endpoint=f"{origin}/token",
        registration_endpoint=f"{origin}/register",
    )


def _issuer(metadata: Json, asked: str, url: str) -> Issuer:
    issuer = text_of(metadata.get("issuer"))
    if issuer.rstrip("/") != asked.rstrip("/"):
        raise LoginFailed(f"{asked} says that it is {issuer or 'nobody'}. Nobody was logged in.")
    methods = metadata.get("code_challenge_methods_supported")
    if not isinstance(methods, list) or "S256" not in methods:
        raise LoginFailed(f"{asked} does not support PKCE with S256, without which a login can be stolen.")
    auth = metadata.get("token_endpoint_auth_methods_supported")
    return Issuer(
        issuer=issuer,
        authorization_endpoint=_safe(text_of(metadata.get("authorization_endpoint")), url),
        token_endpoint=_safe(text_of(metadata.get("token_endpoint")), url),
        registration_endpoint=text_of(metadata.get("registration_endpoint")),
        says_who=metadata.get("authorization_response_iss_parameter_supported") is True,
        takes_documents=metadata.get("client_id_metadata_document_supported") is True,
        auth_methods=tuple(map(text_of, auth)) if isinstance(auth, list) else ("client_secret_basic",),
    )


# Who we are.


async def known_as(http: "httpx2.AsyncClient", issuer: Issuer, url: str, oauth: Json, redirect: str) -> LoginGrant:
    """Ourselves at the issuer: registered by hand, by a document about us, or now."""
    grant = LoginGrant(url=url, issuer=issuer.issuer, token_endpoint=issuer.token_endpoint, client_id="")
    if client_id := text_of(oauth.get("clientId")):
        secret = text_of(oauth.get("clientSecret"))
        method = _method(issuer) if secret else "none"
        return replace(grant, client_id=client_id, client_secret=secret, auth_method=method)
    if (document := text_of(oauth.get("clientMetadataUrl"))) and issuer.takes_documents:
        return replace(grant, client_id=document)
    if not issuer.registration_endpoint:
        raise LoginFailed(f"{issuer.issuer} registers no clients by itself. Register one, and set `oauth.clientId`.")
    about = {
        "client_name": NAME,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    answer = await http.post(_safe(issuer.registration_endpoint, url), json=about)
    registered = _json(answer.content)
    if answer.status_code >= 300 or not text_of(registered.get("client_id")):
        raise LoginFailed(f"{issuer.issuer} did not register us: {_why(answer.status_code, registered)}.")
    secret = text_of(registered.get("client_secret"))
    method = text_of(registered.get("token_endpoint_auth_method")) or (_method(issuer) if secret else "none")
    return replace(grant, client_id=text_of(registered["client_id"]), client_secret=secret, auth_method=method)


def _method(issuer: Issuer) -> str:
    return "client_secret_post" if "client_secret_post" in issuer.auth_methods else "client_secret_basic"


# The login itself.


@record(frozen=True, slots=True, kw_only=True)
class LoginUnderWay:
    """A login that is under way: where the person goes, and what proves that the answer is to us."""

    address: str
    state: str
    verifier: str
    redirect: str
    scope: str


def ask_for(issuer: Issuer, grant: LoginGrant, redirect: str, scope: str) -> LoginUnderWay:
    verifier, state = secrets.token_urlsafe(48), secrets.token_hex(32)
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {
        "response_type": "code",
        "client_id": grant.client_id,
        "redirect_uri": redirect,
        "code_challenge": digest,
        "code_challenge_method": "S256",
        "state": state,
        "resource": grant.url,
    }
    query |= {"scope": scope} if scope else {}
    mark = "&" if urlsplit(issuer.authorization_endpoint).query else "?"
    address = f"{issuer.authorization_endpoint}{mark}{urlencode(query)}"
    return LoginUnderWay(address=address, state=state, verifier=verifier, redirect=redirect, scope=scope)


def answer_in(text: str) -> dict[str, str]:
    """The answer in the address that a browser was sent back to; empty if there is none."""
    try:
        answer = dict(parse_qsl(urlsplit(text.strip()).query))
    except ValueError:
        return {}
    return answer if {"code", "error"} & answer.keys() else {}


def code_from(answer: Mapping[str, str], asked: LoginUnderWay, issuer: Issuer) -> str:
    """The code with which the person was sent back; LoginFailed if it is not ours or not from the issuer."""
    if not secrets.compare_digest(answer.get("state", "").encode(), asked.state.encode()):
        raise LoginFailed("The answer belongs to another login. Try again.")
    issued_by = answer.get("iss")
    if (issued_by is None and issuer.says_who) or (issued_by is not None and issued_by != issuer.issuer):
        raise LoginFailed(
            f"The answer is from {issued_by or 'nobody'}, not from {issuer.issuer}. Nobody was logged in."
        )
    if "error" in answer:
        raise LoginFailed(f"{issuer.issuer} refused: {answer.get('error_description') or answer['error']}.")
    if not answer.get("code"):
        raise LoginFailed(f"{issuer.issuer} answered without a code.")
    return answer["code"]


async def redeem(http: "httpx2.AsyncClient", grant: LoginGrant, code: str, asked: LoginUnderWay) -> LoginGrant:
    """The tokens for a code. A server that does not say for what they are good has granted what was asked for."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": asked.redirect,
        "code_verifier": asked.verifier,
    }
    return await _tokens(http, replace(grant, scope=asked.scope), form)


async def renew(http: "httpx2.AsyncClient", grant: LoginGrant) -> LoginGrant:
    """New tokens for old."""
    return await _tokens(http, grant, {"grant_type": "refresh_token", "refresh_token": grant.refresh_token})


async def _tokens(http: "httpx2.AsyncClient", grant: LoginGrant, form: dict[str, str]) -> LoginGrant:
    form |= {"client_id": grant.client_id, "resource": grant.url}
    headers = {"accept": "application/json"}
    if grant.auth_method == "client_secret_post":
        form["client_secret"] = grant.client_secret
    elif grant.auth_method == "client_secret_basic" and grant.client_secret:
        pair = f"{grant.client_id}:{grant.client_secret}".encode()
        headers["authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    answer = await http.post(_safe(grant.token_endpoint, grant.url), data=form, headers=headers)
    tokens = _json(answer.content)
    token = text_of(tokens.get("access_token"))
    if answer.status_code >= 300 or not token or text_of(tokens.get("token_type")).lower() not in ("bearer", ""):
        raise LoginFailed(f"{grant.issuer} gave no token: {_why(answer.status_code, tokens)}.")
    lasts = tokens.get("expires_in")
    return replace(
        grant,
        access_token=token,
        refresh_token=text_of(tokens.get("refresh_token")) or grant.refresh_token,
        expires=time.time() + lasts if isinstance(lasts, int | float) else 0.0,
        scope=text_of(tokens.get("scope")) or grant.scope,
    )


# What comes from outside.


def _safe(address: str, server: str) -> str:
    """The address, if secrets may be sent there: over TLS, or on this machine if the server is on it as well.

    A server elsewhere has no business with what listens here.
    """
    parts = urlsplit(address)
    if parts.hostname in LOCAL and parts.scheme in ("http", "https") and urlsplit(server).hostname in LOCAL:
        return address
    if parts.scheme == "https" and parts.hostname not in LOCAL:
        return address
    raise LoginFailed(f"{address or 'an empty address'} is not safe to log in at: it must begin with https://.")


def _covers(resource: str, url: str) -> bool:
    """Tell whether a resource is the server, or something that the server is a part of."""
    path = urlsplit(resource).path.rstrip("/")
    there = urlsplit(url).path.rstrip("/")
    return _origin(resource) == _origin(url) and (there == path or there.startswith(f"{path}/"))


async def _fetched(http: "httpx2.AsyncClient", address: str) -> Json | None:
    async with http.stream("GET", address, headers={"accept": "application/json"}) as response:
        if response.status_code != 200:
            return None
        data = b""
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > LARGEST:
                raise LoginFailed(f"{address} answers with more than {LARGEST:,} bytes.")
    return _json(data) or None


def _json(data: bytes) -> Json:
    try:
        return object_of(read_json(data.decode("utf-8", "replace")))
    except ValueError:
        return {}


def _why(status: int, answer: Json) -> Any:
    return text_of(answer.get("error_description")) or text_of(answer.get("error")) or f"it answered {status}"


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"

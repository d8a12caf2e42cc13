"""Google: the application default credentials, of `gcloud auth application-default login` or a service account."""

import asyncio
import base64
import json
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from toolwright.machine.private_files import read_private
from toolwright.models.logins.identity import ProviderLoginFailed, expiry, post, refusal, safe_address, text
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json

KIND = "google"
PROVIDER = "google"
FILE = "GOOGLE_APPLICATION_CREDENTIALS"
TOKENS = "https://oauth2.googleapis.com/token"
SCOPE = "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/generative-language.retriever"
_JWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


async def log_in(env: Mapping[str, str], show: Callable[[str], None]) -> Json:
    """The record of a new login. The secret stays in Google's own file; ours names it."""
    file = _file(env)
    project = env.get("GOOGLE_CLOUD_QUOTA_PROJECT", "")
    show(f"Using the credentials in {file}")
    return await asyncio.to_thread(renew, {"credentials": str(file), "project": project})


def renew(record: Json) -> Json:
    """The record with a new token."""
    file = Path(text(record, "credentials"))
    credentials = _credentials(file)
    url = safe_address(text(credentials, "token_uri") or TOKENS)
    match text(credentials, "type"):
        case "authorized_user":
            form = {name: text(credentials, name) for name in ("client_id", "client_secret", "refresh_token")}
            form["grant_type"] = "refresh_token"
        case "service_account":
            form = {"grant_type": _JWT, "assertion": _assertion(credentials, url, file)}
        case other:
            raise ProviderLoginFailed(
                f"{file} holds credentials of the kind {other!r}; only authorized_user and service_account are read "
                "here. The extra `providers` takes the others, with the provider google-cloud."
            )
    status, answer = post(url, form=form)
    if not text(answer, "access_token"):
        raise refusal(url, status, answer)
    return {
        "type": "oauth",
        "login": KIND,
        "credentials": str(file),
        "project": text(record, "project") or text(credentials, "quota_project_id"),
        "access": text(answer, "access_token"),
        "expires": expiry(answer),
    }


def _file(env: Mapping[str, str]) -> Path:
    if env.get(FILE):
        return Path(env[FILE]).absolute()
    folder = Path(env.get("CLOUDSDK_CONFIG") or Path(env.get("HOME") or Path.home()) / ".config" / "gcloud")
    return folder.absolute() / "application_default_credentials.json"


def _credentials(file: Path) -> Json:
    written = read_private(file)
    if not written:
        raise ProviderLoginFailed(
            f"There are no application default credentials in {file}. Run `gcloud auth application-default login`, "
            f"or set {FILE} to the file of a service account."
        )
    try:
        value = read_json(written)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ProviderLoginFailed(f"{file} is not a JSON object. Make the credentials anew.")
    return value


def _assertion(said: Mapping[str, Any], url: str, file: Path) -> str:
    """Return our identity, signed with the key of the service account."""
    now = int(time.time())
    head = {"alg": "RS256", "typ": "JWT", "kid": text(said, "private_key_id")}
    claims = {"iss": text(said, "client_email"), "scope": SCOPE, "aud": url, "iat": now, "exp": now + 3600}
    signed = b".".join(_base64(json.dumps(part).encode()) for part in (head, claims))
    return b".".join((signed, _base64(_signature(text(said, "private_key"), signed, file)))).decode()


def _signature(key: str, data: bytes, file: Path) -> bytes:
    try:
        serialization: Any = import_module("cryptography.hazmat.primitives.serialization")
        padding: Any = import_module("cryptography.hazmat.primitives.asymmetric.padding")
        hashes: Any = import_module("cryptography.hazmat.primitives.hashes")
    except ImportError as error:
        raise ProviderLoginFailed(
            "A service account signs with RSA, for which cryptography must be installed: "
            "pip install 'toolwright[providers]'."
        ) from error
    try:
        loaded = serialization.load_pem_private_key(key.encode(), password=None)
        signature: bytes = loaded.sign(data, padding.PKCS1v15(), hashes.SHA256())
    except (ValueError, TypeError, AttributeError):
        raise ProviderLoginFailed(
            f"The private key in {file} cannot be read. Make a new key for the account."
        ) from None
    return signature


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")

"""Files of the home folder that hold keys to other machines: commands that are held to destinations do not see them."""

from collections.abc import Iterator
from pathlib import Path

CREDENTIALS = (
    *(".aws/credentials", ".aws/sso/cache", ".azure", ".config/gcloud", ".oci", ".bluemix", ".config/doctl", ".fly"),
    *(".kube/config", ".docker/config.json", ".config/containers/auth.json", ".terraform.d/credentials.tfrc.json"),
    *(".git-credentials", ".config/git/credentials", ".netrc", "_netrc", ".config/gh/hosts.yml", ".config/hub"),
    *(".config/glab-cli", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials"),
    *(".config/composer/auth.json", ".composer/auth.json", ".m2/settings-security.xml", ".gnupg", ".password-store"),
    *(".vault-token", ".pgpass", ".my.cnf", ".config/rclone", ".s3cfg", ".boto"),
    *(".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".local/share/opencode/auth.json"),
)
"""Files and folders of package registries, forges, clouds, databases and other agents."""
PLAIN = ("known_hosts", "known_hosts2", "config", "config.d", "allowed_signers")
"""Files that programs need of `.ssh` besides public keys, and anybody may know. The rest of it is hidden as well."""


def credentials(home: Path) -> Iterator[Path]:
    """Yield those that are there."""
    keys = (place for place in sorted((home / ".ssh").glob("*")) if not _is_plain(place))
    for place in (*(home / name for name in CREDENTIALS), *keys):
        if place.exists():
            yield place


def _is_plain(place: Path) -> bool:
    return place.name in PLAIN or place.suffix == ".pub"

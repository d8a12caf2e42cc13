"""The number of words that say what a command does: `git log`, `npm run build`, `ls`."""

import re
from collections.abc import Mapping, Sequence

_TWO = (
    "bazel brew bun cargo cdk cf cmake composer consul crictl deno docker eksctl firebase flyctl git go "
    "gradle helm heroku hugo ip kind kubectl kustomize make mc minikube mongosh mysql mvn ng npm nvm nx "
    "openssl pip pipenv pnpm poetry podman psql pulumi pyenv python rake rbenv redis-cli rustup serverless "
    "skaffold sls sst swift systemctl terraform tmux turbo ufw vault vercel volta wp yarn"
)
_THREE = (
    "aws,az,doctl,gcloud,gh,sfdx,bun run,bun x,cargo add,cargo run,consul kv,deno task,docker builder,"
    "docker compose,docker container,docker image,docker network,docker volume,docker system,eksctl create,git config,"
    "git remote,git stash,ip addr,ip link,ip netns,ip route,kind create,kubectl kustomize,kubectl rollout,"
    "mc admin,npm exec,npm init,npm run,npm view,openssl req,openssl x509,pnpm dlx,pnpm exec,pnpm run,"
    "podman container,podman image,pulumi stack,terraform workspace,vault auth,vault kv,yarn dlx,yarn run"
)
ARITY: Mapping[str, int] = {**dict.fromkeys(_TWO.split(), 2), **dict.fromkeys(_THREE.split(","), 3)}


_ONE = (
    "biome black bunx dprint eslint flake8 flow golangci-lint gofmt goimports gotestsum hadolint isort jest ktlint mdl "
    "mocha mypy nosetests nyc oxlint phpcs phpstan phpunit prettier psalm pylint pyright pytest rspec rubocop rustc "
    "rustfmt shellcheck shfmt standard stylelint swiftlint tox tsc vitest yamllint"
)
"""Programs that are given files, or nothing, and have no subcommands."""
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")


def is_whole(words: Sequence[str]) -> bool:
    """Tell whether all the words are there that say what the command does."""
    return len(words) >= (ARITY.get(" ".join(words[:2])) or ARITY.get(words[0], 1))


def kind(words: Sequence[str], *, listed: bool) -> tuple[str, ...]:
    """The words that say what kind of command it is; of a program that no table has, the second one may."""
    start = prefix(words)
    if listed or words[0] in ARITY or words[0] in _ONE.split() or len(words) < 2 or "/" in words[0]:
        return start
    return tuple(words[:2]) if _SUBCOMMAND.fullmatch(words[1]) else start


def prefix(words: Sequence[str]) -> tuple[str, ...]:
    """The words that say what the command does; one for commands that are not listed."""
    length = ARITY.get(" ".join(words[:2])) or ARITY.get(words[0], 1) if words else 0
    return tuple(words[:length])

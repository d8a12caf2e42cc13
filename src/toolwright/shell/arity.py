"""How many words of a command say what it does: `git log`, `npm run build`, `ls`."""

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


def prefix(words: Sequence[str]) -> tuple[str, ...]:
    """The words that say what the command does; one for commands that are not listed."""
    length = ARITY.get(" ".join(words[:2])) or ARITY.get(words[0], 1) if words else 0
    return tuple(words[:length])

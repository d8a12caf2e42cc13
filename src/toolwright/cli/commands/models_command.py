"""tw models: the models that are known, what they can take and what they cost."""

import argparse
import asyncio
import json
from collections.abc import Iterator

from toolwright.cli.options import note, open_from, parser, print_json, print_table
from toolwright.models.info import ModelInfo, ModelLimits
from toolwright.models.known.catalog import ProviderInfo
from toolwright.models.known.families import variants
from toolwright.models.known.local_servers import USUAL, ask_server
from toolwright.models.known.refresh import ADDRESS, fetch, refreshed
from toolwright.protocols.client_json import to_json
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options, warn=False)
    if options.refresh is not None:
        asyncio.run(_refresh(workspace, options.refresh or ADDRESS))
    catalog = workspace.connections.catalog
    wanted = [catalog.provider(options.provider)] if options.provider else list(catalog.providers())
    models = [model for provider in wanted for model in (*catalog.models(provider.id), *_served(provider))]
    if options.json:
        print_json([{**to_json_model(model)} for model in models])
        return 0
    print_table([_row(model) for model in models])
    return 0


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "models",
        "The models of the shipped catalogue and of your configuration. Newer versions of a listed model work too.",
        examples=(
            "  tw models\n  tw models anthropic --json\n"
            "  tw models ollama        what the server on this machine serves\n"
            "  tw models --refresh     fetch a newer list; a file or an address may be named"
        ),
    )
    root.add_argument("provider", nargs="?", default="", help="only this provider's")
    root.add_argument("--refresh", nargs="?", const="", metavar="FROM", help="fetch a newer list first")
    root.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _refresh(workspace: Workspace, address: str) -> None:
    providers = refreshed(await fetch(address))
    file = workspace.folders.models
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"from": address, "providers": providers}), "utf-8")
    note(f"{sum(len(one.get('models', {})) for one in providers.values())} models from {address}, kept in {file}")


def _served(provider: ProviderInfo) -> Iterator[ModelInfo]:
    """Yield what a server on this machine offers, if it runs."""
    server = ask_server(provider.id, provider.base_url) if provider.id in USUAL else None
    for model in server.models if server else ():
        limits = ModelLimits(context=model.context)
        yield ModelInfo(provider=provider.id, id=model.id, api=provider.api, limits=limits, priced=False, local=True)


def _row(model: ModelInfo) -> tuple[str, ...]:
    prices = f"${model.prices.input:g} in, ${model.prices.output:g} out" if model.prices.output else ""
    context = f"{model.limits.context // 1000}k" if model.limits.context else "?"
    until = f"  (until {model.until})" if model.until else ""
    return model.full_name, context, prices, ", ".join(sorted(model.accepts)) + until


def to_json_model(model: ModelInfo) -> dict[str, object]:
    return {
        "id": model.full_name,
        "name": model.name,
        "api": model.api,
        "limit": to_json(model.limits),
        "cost": to_json(model.prices),
        "input": sorted(model.accepts),
        "reasoning": model.reasoning,
        "tools": model.tools,
        "variants": list(variants(model)),
    }

"""tw models: the models that are known, what they can take and what they cost."""

import argparse

from toolwright.cli.options import open_from, parser, print_json, print_table
from toolwright.models.info import ModelInfo
from toolwright.wire import to_json


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options)
    catalog = workspace.connections.catalog
    wanted = [one for one in catalog.providers() if options.provider in ("", one.id)]
    models = [model for provider in wanted for model in catalog.models(provider.id)]
    if options.json:
        print_json([{**to_json_model(model)} for model in models])
        return 0
    print_table([_row(model) for model in models])
    return 0


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "models",
        "The models of the shipped catalogue and of your configuration. Any other name of a known provider works too.",
        examples="  tw models\n  tw models anthropic --json",
    )
    made.add_argument("provider", nargs="?", default="", help="only this provider's")
    made.add_argument("--json", action="store_true", help="machine-readable")
    return made


def _row(model: ModelInfo) -> tuple[str, ...]:
    prices = f"${model.prices.input:g} in, ${model.prices.output:g} out" if model.prices.output else ""
    context = f"{model.limits.context // 1000}k" if model.limits.context else "?"
    return model.full_name, context, prices, ", ".join(sorted(model.accepts))


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
    }

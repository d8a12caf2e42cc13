"""What a reply costs."""

import pytest

from toolwright.models.info import LONG, ModelInfo, Prices, Usage

LONGER = Prices(input=10, output=20, cache_read=30, cache_write=40)


@pytest.mark.parametrize(
    ("usage", "long", "dollars"),
    [
        (Usage(input=100), None, 100),
        (Usage(output=100), None, 200),
        (Usage(reasoning=100), None, 200),
        (Usage(cache_read=100), None, 300),
        (Usage(cache_write=100), None, 400),
        (Usage(input=LONG), LONGER, LONG),
        (Usage(input=LONG + 1), LONGER, 10 * (LONG + 1)),
        (Usage(input=LONG, cache_read=1), LONGER, 10 * LONG + 30),
        (Usage(input=LONG, cache_write=1), LONGER, 10 * LONG + 40),
        (Usage(input=LONG, output=1), LONGER, LONG + 2),
        (Usage(input=LONG + 1), None, LONG + 1),
    ],
)
def test_a_long_input_costs_what_the_provider_asks_for_those(usage: Usage, long: Prices | None, dollars: int) -> None:
    prices = Prices(input=1, output=2, cache_read=3, cache_write=4, long=long)
    assert prices.cost(usage) == pytest.approx(dollars / 1_000_000)


def test_a_model_goes_by_its_id_unless_it_has_other_names() -> None:
    assert (ModelInfo(provider="p", id="m").api_id, ModelInfo(provider="p", id="m").name) == ("m", "m")
    named = ModelInfo(provider="p", id="m", api_id="a", name="N")
    assert (named.api_id, named.name, named.full_name) == ("a", "N", "p/m")

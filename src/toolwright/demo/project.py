"""The project of the demo: a shopping basket whose total is wrong, and a test that says so."""

from pathlib import Path

FILES = {
    "basket.py": '''\
"""A shopping basket."""

from dataclasses import dataclass, field


@dataclass
class Basket:
    prices: list[float] = field(default_factory=list)

    def add(self, price: float, count: int = 1) -> None:
        self.prices.append(price)

    def total(self) -> float:
        return round(sum(self.prices), 2)
''',
    "test_basket.py": '''\
"""What a basket should do. Run with: python test_basket.py"""

import unittest

from basket import Basket


class BasketTest(unittest.TestCase):
    def test_one_thing(self) -> None:
        basket = Basket()
        basket.add(2.50)
        self.assertEqual(basket.total(), 2.50)

    def test_three_of_a_kind(self) -> None:
        basket = Basket()
        basket.add(2.50, count=3)
        self.assertEqual(basket.total(), 7.50)


if __name__ == "__main__":
    unittest.main()
''',
    "README.md": "# Basket\n\nAdds up what is in a shopping basket.\n",
}


def write_project(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")

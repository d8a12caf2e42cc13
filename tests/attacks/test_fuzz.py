"""Every input that was kept, and a fixed number of new ones for every parser that reads what a stranger wrote."""

import multiprocessing

import pytest

from tests.attacks import fuzz
from tests.attacks.fuzz import CORPUS, Target
from tests.attacks.fuzz_targets import TARGETS
from tests.rounds import rounds

COUNT = rounds(150, 400)
SEED = 20261116

pytestmark = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_does_harm(name: str) -> None:
    told = fuzz.fuzz(TARGETS[name], seed=SEED, count=COUNT)
    assert told.problem == ""
    assert told.rounds == len(TARGETS[name].kept()) + COUNT
    assert told.refused < told.rounds, "some of it is read"


def test_every_folder_of_kept_inputs_has_its_target() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} <= set(TARGETS)


def _broken(data: bytes) -> None:
    if b"x" in data:
        raise KeyError(data)


def _hanging(data: bytes) -> None:
    while b"x" in data:
        pass


def _growing(data: bytes, held: list[bytes] = []) -> None:  # noqa: B006 - a leak
    held.append(b"x" * 30_000_000)


@pytest.mark.parametrize(
    ("run", "problem"),
    [(_broken, "KeyError"), (_hanging, "took more than"), (_growing, "memory has grown")],
    ids=["crash", "hang", "growth"],
)
def test_harm_is_seen_and_its_input_kept(
    run: object, problem: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "CORPUS", tmp_path)
    monkeypatch.setattr(fuzz, "PATIENCE", 0.5)
    target = Target(name="bad", run=run, seeds=lambda: [b"a", b"b"], mutate=lambda *_: b"x")  # type: ignore[arg-type]
    told = fuzz.fuzz(target, seed=1, count=30)
    assert problem in told.problem
    assert target.kept()[0] == b"x"

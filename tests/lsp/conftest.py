"""Language servers of the tests are waited for as long as a busy machine takes to run them."""

import pytest


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.lsp.pool.FIRST_ANSWER", 60.0)
    monkeypatch.setattr("toolwright.lsp.pool.PATIENCE", 8.0)

# `make` formats and checks everything fast; `make test` is the whole gate; both set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := check
.PHONY: check format lint types layers fast test attack demo bench lock clean

check: format lint types layers fast

format: $(READY)
	$(BIN)/ruff format -q .
	$(BIN)/ruff check -q --fix-only .

lint: $(READY)
	$(BIN)/ruff format -q --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports --no-logo

fast: $(READY)
	$(BIN)/pytest -m "not slow" -n 2

test: lint types layers
	$(BIN)/pytest -n 2

# The attacks of tests/attacks in their long form.
attack: $(READY)
	TOOLWRIGHT_ATTACK_ROUNDS=3000 $(BIN)/pytest tests/attacks -n 2

demo: $(READY)
	$(BIN)/tw demo

bench: $(READY)
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/door.py

# Everything a developer needs, at the versions of requirements.lock, in a virtual environment of its own.
$(READY): pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.lock
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q src
	touch $@

lock: $(READY)
	$(BIN)/uv pip compile --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url --generate-hashes \
		--all-extras --group dev -o requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

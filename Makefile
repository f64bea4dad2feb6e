# Two commands for a newcomer: `make tune` and `make test`. Both set up what they need first; a second time that costs nothing.

VENV ?= .venv
TORCH ?= torch==2.13.0
TORCH_CPU_INDEX ?= https://download.pytorch.org/whl/cpu
ARGS ?=

# The first Python that is new enough and can make a virtual environment.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
GPU := $(shell nvidia-smi -L 2>/dev/null | grep -c '^GPU')
RUN := $(VENV)/bin

.PHONY: tune test test-engine test-cluster setup engines browser lint types bench bench-store bench-sweep bench-statistics bench-peers bench-adapters bench-step bench-upgrades examples figures pyz docs docs-check clean

tune: setup  ## measure on this machine; overrides: make tune ARGS="model=qwen3_8b traffic=chat"
	$(RUN)/attnpin tune $(ARGS)

# What is compiled is kept: each of the hundreds of processes that tests start would compile its own.
test: export PYTHONDONTWRITEBYTECODE =
test: setup engines  ## the tests that need no GPU; those that do, one at a time: make test ARGS="-m gpu -n 0"
	$(RUN)/python -m pytest -q -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder $(ARGS)

test-engine: setup engines  ## the rules of SGLang's argument resolution against SGLang itself: 9,000 scenarios, three releases, minutes
	$(RUN)/python tests/engine/unpack.py 0.5.23 || test $$? -eq 75
	$(RUN)/python tests/engine/unpack.py vllm-0.33.0 || test $$? -eq 75
	$(RUN)/python tests/engine/unpack.py adapters || test $$? -eq 75
	$(RUN)/python -m pytest -q -rP -m engine -n 2 --dist loadfile tests/engine $(ARGS)

test-cluster: setup  ## sweeps and rounds in a Ray cluster of this machine, stores as Parquet files: four minutes, most of them waiting
	$(RUN)/python -m pip install --quiet -e ".[ray,parquet]"
	$(RUN)/python -m pytest -q -rs -n 0 tests/tuner/executors/test_ray.py tests/tuner/rounds/test_on_ray.py \
		tests/store/exchange tests/tuner/test_database_command.py $(ARGS)

setup: $(VENV)/.installed

engines: setup  ## two SGLang releases for the tests, in .cache/ (no weights, no GPU parts); without a network (75) those tests are skipped
	$(RUN)/python tests/engine/unpack.py 0.5.16 || test $$? -eq 75

browser: setup  ## Chromium for the tests of reports' pages, which are skipped without one: Debian's for root, else Playwright's own
	for name in chromium chromium-browser google-chrome chrome; do command -v $$name && exit; done; \
	{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } || $(RUN)/playwright install chromium

lint: setup
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: setup
	$(RUN)/mypy --strict

bench: setup  ## start-up times against a bare interpreter; how fast the limits judge 10,000 scenarios; a million requests from arrivals to cells
	$(RUN)/python tests/bench/startup.py
	$(RUN)/python -m tests.bench.limits
	$(RUN)/python -m tests.bench.traffic

bench-store: setup  ## report, history, check --fast, ... on ten million trials, in SQLite and PostgreSQL: ten minutes, 5 GB of disk for a while
	$(RUN)/python -m tests.bench.large_store

bench-sweep: setup  ## what a thousand scenarios were foretold to cost beside what they took, through a Ray cluster of this machine: half an hour of two cores, goes on where it was cut off
	$(RUN)/python -m pip install --quiet -e ".[ray]"
	$(RUN)/python -m tests.bench.sweep measure $(CURDIR)/.cache/sweep $(ARGS)
	$(RUN)/python -m tests.bench.sweep keep $(CURDIR)/.cache/sweep
	$(RUN)/python -m tests.docs

bench-statistics: setup  ## how often verdicts are wrong, on noise whose truth is known: ten minutes of one core, then docs/error-rates.md
	$(RUN)/python -m tests.bench.statistics
	$(RUN)/python -m tests.docs

bench-peers: setup  ## picks of ours beside those of other timing tools, on a GPU with SGLang: half an hour, goes on where it was cut off; overrides: ARGS="engine.path=..."
	mkdir -p .cache
	$(RUN)/python -m tests.bench.peers measure .cache/peers.jsonl small $(ARGS)
	$(RUN)/python -m tests.bench.peers measure .cache/peers.jsonl large $(ARGS)
	$(RUN)/python -m tests.bench.peers keep .cache/peers.jsonl
	$(RUN)/python -m pip install --quiet -e ".[plot]"
	$(RUN)/python -m tests.bench.peers plot
	$(RUN)/python -m tests.docs

bench-step: setup  ## differences between backends in SGLang's own steps beside predicted ones, on a GPU with SGLang: 20 minutes, goes on where it was cut off; overrides: ARGS="engine.path=..."
	mkdir -p .cache
	$(RUN)/python -m tests.bench.step measure .cache/step.jsonl store.url=sqlite:///.cache/step.db $(ARGS)
	$(RUN)/python -m tests.bench.step keep .cache/step.jsonl
	$(RUN)/python -m pip install --quiet -e ".[plot]"
	$(RUN)/python -m tests.figures
	$(RUN)/python -m tests.docs

bench-adapters: setup  ## kernel adapters beside the engine's own objects, on a GPU with SGLang: four minutes a process, goes on where it was cut off; overrides: ARGS="engine.path=..."
	mkdir -p .cache
	$(RUN)/python -m tests.bench.adapters measure .cache/adapters.jsonl.zst 2 $(ARGS)
	$(RUN)/python -m tests.bench.adapters keep .cache/adapters.jsonl.zst
	$(RUN)/python -m tests.docs

bench-upgrades: setup  ## what compare says of an environment and itself, and itself slowed by 5 %, on a GPU: half an hour, goes on where it was cut off; overrides: ARGS="engine.path=..."
	mkdir -p .cache
	$(RUN)/python -m tests.bench.upgrades same 5 store.url=sqlite:///.cache/upgrades.db $(ARGS)
	$(RUN)/python -m tests.bench.upgrades slowed 5 store.url=sqlite:///.cache/upgrades.db $(ARGS)
	$(RUN)/python -m tests.bench.upgrades add .cache/upgrades.db
	$(RUN)/python -m tests.docs

examples: setup  ## the texts under examples/, made again from the evidence beside them
	$(RUN)/python -m tests.examples

docs: setup  ## figures in README.md and docs/ made again from what they cite, docs/limits.md, docs/default-tree.svg and docs/demo.svg from what they show
	$(RUN)/python -m tests.docs

docs-check: setup  ## fails where one of them says something else than its source
	$(RUN)/python -m tests.docs --check

figures: setup  ## the plots of docs/ drawn again from what is committed: regret against seconds, predicted and measured, decode over versions
	$(RUN)/python -m tests.figures

pyz: setup  ## the controller as one file, dist/attnpin.pyz, for this Python's minor version; another too: ARGS="--python python3.11 --python python3.12"
	$(RUN)/python -m pip install --quiet -e ".[pyz]"
	rm -f dist/attnpin-*.whl
	$(RUN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(RUN)/pex dist/attnpin-*.whl --console-script attnpin --output-file dist/attnpin.pyz $(ARGS)

clean:
	rm -rf $(VENV)

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with its venv module is needed; install it or give PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	touch $@

# Plain torch from PyPI is a CUDA build of several GB, so a machine without a GPU gets the CPU build first and alone.
$(VENV)/.torch: $(VENV)/.made
ifeq ($(GPU),0)
	$(RUN)/python -m pip install --no-deps --retries 0 --extra-index-url $(TORCH_CPU_INDEX) $(TORCH)
endif
	touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.torch
ifeq ($(GPU),0)
	$(RUN)/python -m pip install -e ".[dev]"
else
	$(RUN)/python -m pip install -e ".[dev,gpu]"
endif
	touch $@

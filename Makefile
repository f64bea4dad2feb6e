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

.PHONY: tune test setup engines lint types bench examples clean

tune: setup  ## measure on this machine; overrides: make tune ARGS="model=qwen3_8b traffic=chat"
	$(RUN)/attnpin tune $(ARGS)

test: setup engines  ## the tests that need no GPU; more: make test ARGS="-m gpu"
	$(RUN)/python -m pytest -q $(ARGS)

setup: $(VENV)/.installed

engines: setup  ## two SGLang releases for the tests, in .cache/ (no weights, no GPU parts); without a network (75) those tests are skipped
	$(RUN)/python tests/engine/unpack.py 0.5.16 || test $$? -eq 75

lint: setup
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: setup
	$(RUN)/mypy --strict

bench: setup  ## start-up times against a bare interpreter
	$(RUN)/python tests/bench/startup.py

examples: setup  ## the texts under examples/, made again from the evidence beside them
	$(RUN)/python -m tests.examples

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

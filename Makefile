# Two commands work on a fresh machine with Python 3.11 or newer:
#   make demo    make test
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Run tests in one process for each core; the tests of a file share a process.
PYTEST = $(BIN)/python -m pytest -q --dist loadfile --numprocesses
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint paper bench fuzz lock bundle dist clean

help:  ## List the commands.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/installed  ## Install into .venv and anonymise the example into demo/release.
	@rm -rf demo && mkdir demo
	@$(BIN)/syntf example demo/example.csv
	@$(BIN)/syntf anonymize demo/example.csv --text text --keep topic --shuffle --out demo/release

test: $(VENV)/tested  ## Run all tests that are not marked slow (about 3 minutes on 2 cores).
	$(PYTEST) auto -m "not slow"

lint: $(VENV)/tested  ## Run ruff, mypy (strict) and import-linter.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

HOME_OF_NEWSGROUPS = $(if $(NEWSGROUPS),--data-home $(NEWSGROUPS))
paper: $(VENV)/tested  ## Repeat the whole evaluation of the paper: make paper [NEWSGROUPS=data-home].
	$(BIN)/python -m pip install --quiet --editable '.[paper]'
	$(BIN)/python -m paper $(HOME_OF_NEWSGROUPS) --out build/paper

bench: $(VENV)/tested  ## Print ratios of speed: make bench [NEWSGROUPS=data-home].
	$(BIN)/python benchmarks/speed.py $(HOME_OF_NEWSGROUPS)

fuzz: $(VENV)/tested  ## Try more than 100,000 damaged inputs on every reader.
	$(BIN)/python fuzz/readers.py

lock: $(VENV)/created  ## Pin the development environment with hashes, for every Python from 3.11.
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra integration --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-strip-extras \
	  --upgrade --quiet --output-file requirements-dev.lock

dist: $(VENV)/tested  ## Build sdist and wheel, install each into an empty environment, try both.
	$(BIN)/python tools/check_dist.py

bundle: $(VENV)/tested  ## Pack all wheels for machines without a network into dist/.
	$(BIN)/python tools/make_bundle.py

clean:  ## Delete everything that the other commands made.
	rm -rf $(VENV) build dist demo src/*.egg-info

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "syntf needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

# Two commands work on a fresh machine with Python 3.11 or newer:
#   make demo    make test
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(wildcard src/syntf/native/_*.[ch])
# Run tests in one process for each core. Tests of one file share a process (tests/conftest.py).
PYTEST = $(BIN)/python -m pytest --dist loadscope --numprocesses
# Programs that tests start, and a second run of the tests, start faster with compiled modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all coverage lint map commits hooks fuzz audit lock docs tutorial \
  pictures dist bundle processors bench bench-large data codebook clean

help:  ## List the commands.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/installed  ## Install into .venv and anonymise the example into demo/release.
	@rm -rf demo && mkdir demo
	@$(BIN)/syntf example demo/example.csv
	@$(BIN)/syntf anonymize demo/example.csv --text text --keep topic --shuffle --out demo/release

test: $(VENV)/tested  ## Run all tests that are not marked slow (at most 5 minutes on 2 cores).
	$(PYTEST) auto -m "not slow"

# Two processes more: tests of a cluster and of browsers wait much of their time.
test-all: $(VENV)/tested  ## Run every test, as .ci/run does.
	$(PYTEST) $$(($$($(BIN)/python -c 'import os; print(os.cpu_count())') + 2))

coverage: $(VENV)/tested  ## Run the tests of make test and print the share of lines they execute.
	@mkdir -p build
	$(PYTEST) auto -m "not slow" --cov --cov-report=term:skip-covered --cov-report=html:build/coverage

lint: $(VENV)/tested  ## Run ruff, mypy (strict) and import-linter.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

map:  ## Write the list of modules in CONTRIBUTING.md again.
	$(PYTHON) tools/module_map.py --write

commits:  ## Check that commit messages follow Conventional Commits.
	$(PYTHON) tools/check_commits.py

hooks: $(VENV)/tested  ## Install the git hooks of .pre-commit-config.yaml.
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type commit-msg

fuzz: $(VENV)/tested  ## Try more than 100,000 damaged inputs on every reader.
	-$(BIN)/python -m pip install --quiet atheris # optional: mutations guided by coverage
	$(BIN)/python fuzz/run.py --report build/fuzz.json
	$(BIN)/python tools/trust_figures.py

audit: $(VENV)/tested  ## Look for weaknesses: bandit on the sources, pip-audit on the lock file.
	$(BIN)/python -m pip install --quiet --editable '.[audit]'
	$(BIN)/bandit --quiet --recursive src
	$(BIN)/python tools/audit.py

lock: $(VENV)/created  ## Pin the development environment with hashes, for every Python from 3.11.
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra audit --extra integration --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-strip-extras \
	  --upgrade --quiet --output-file requirements-dev.lock

docs: $(VENV)/documented  ## Build the site into build/site. A broken link fails.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	$(BIN)/python tools/check_site.py build/site

tutorial: $(VENV)/documented  ## Run docs/tutorial.ipynb and store its output.
	$(BIN)/python tools/run_tutorial.py

pictures: $(VENV)/documented  ## Make docs/images again from the running program.
	$(BIN)/python tools/screenshots.py

dist: $(VENV)/tested  ## Build sdist and wheel, install each into an empty environment, try both.
	$(BIN)/python tools/check_dist.py

processors: $(VENV)/tested  ## Test the compiled loops on emulated ARM and without AVX-512.
	$(BIN)/python tools/check_processors.py

bundle: $(VENV)/tested  ## Pack all wheels for machines without a network into dist/.
	$(BIN)/python tools/make_bundle.py

# make bench [NEWSGROUPS=data-home] [GLOVE=glove.6B.100d.txt] [EARLIER=checkout/src]
BENCH = $(BIN)/python benchmarks/bench.py run $(if $(NEWSGROUPS),--data-home $(NEWSGROUPS)) \
  $(if $(GLOVE),--vectors $(GLOVE)) $(if $(EARLIER),--earlier $(EARLIER))
bench: $(VENV)/tested  ## Measure syntf and other programs side by side, for docs/benchmarks.md.
	$(BENCH)
	-$(BIN)/python benchmarks/bench.py compare

bench-large: $(VENV)/tested  ## Run make bench, also with 10 and 100 copies of 20 newsgroups.
	$(BENCH) --times 1 10 100
	-$(BIN)/python benchmarks/bench.py compare

data: $(VENV)/tested  ## Make the embedded vectors and vocabulary again: make data GLOVE=<file>.
	$(BIN)/python tools/build_data.py $(GLOVE)

codebook: $(VENV)/tested  ## Make the embedded codebook again: make codebook [WORDNET=/usr/share/wordnet].
	$(BIN)/python tools/build_codebook.py $(WORDNET)

clean:  ## Delete everything that the other commands made.
	rm -rf $(VENV) build dist demo src/*.egg-info src/syntf/native/*.so

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "syntf needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/created $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable .
	@$(BIN)/python -m compileall -q src # pip does so for all other packages
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[docs,evaluate]'
	@touch $@

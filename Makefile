# Two commands do everything on a fresh machine with Python 3.11 or newer:
#   make demo    make test
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(wildcard src/syntf/native/_*.[ch])

.PHONY: demo test lint fuzz audit lock docs tutorial pictures wheel bench bench-large data clean

demo: $(VENV)/installed
	@rm -rf demo && mkdir demo
	@$(BIN)/syntf example demo/example.csv
	@$(BIN)/syntf anonymize demo/example.csv --text text --keep topic --shuffle --out demo/release

test: $(VENV)/tested
	$(BIN)/python -m pytest --numprocesses auto --dist loadscope

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every reader and transform, over 100,000 inputs; guided by coverage where atheris installs.
fuzz: $(VENV)/tested
	-$(BIN)/python -m pip install --quiet atheris
	$(BIN)/python fuzz/run.py --report build/fuzz.json
	$(BIN)/python tools/trust_figures.py

# What could be done to whoever runs this: our code (bandit), and the packages pinned (pip-audit).
audit: $(VENV)/tested
	$(BIN)/python -m pip install --quiet --editable '.[audit]'
	$(BIN)/bandit --quiet --recursive src
	$(BIN)/python tools/audit.py

# The development environment, pinned with hashes, for every Python from 3.11 on; needs uv.
lock:
	uv pip compile pyproject.toml --extra dev --extra audit --extra evaluate --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade --quiet \
	  --output-file requirements-dev.lock

# The site, into build/site; a broken link, an anchor or a page without a place fails it.
docs: $(VENV)/documented
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	$(BIN)/python tools/check_site.py build/site

# What the tutorial shows and the pictures of the docs, made again.
tutorial: $(VENV)/documented
	$(BIN)/python tools/run_tutorial.py

pictures: $(VENV)/documented
	$(BIN)/python tools/screenshots.py

wheel: $(VENV)/tested
	$(BIN)/python -m build --wheel

# Ours and others side by side, into docs/benchmarks.md; bench-large adds 100 × 20 newsgroups.
# make bench [NEWSGROUPS=data-home] [GLOVE=glove.6B.100d.txt]
BENCH = $(BIN)/python benchmarks/bench.py run $(if $(NEWSGROUPS),--data-home $(NEWSGROUPS)) \
  $(if $(GLOVE),--vectors $(GLOVE))
bench: $(VENV)/tested
	$(BENCH)
	-$(BIN)/python benchmarks/bench.py compare

bench-large: $(VENV)/tested
	$(BENCH) --times 1 10 100
	-$(BIN)/python benchmarks/bench.py compare

# make data GLOVE=glove.6B.100d.txt: the embedded table and vocabulary, made again
data: $(VENV)/tested
	$(BIN)/python tools/build_data.py $(GLOVE)

clean:
	rm -rf $(VENV) build dist demo src/*.egg-info src/syntf/native/*.so

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "syntf needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/created $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[docs,evaluate]'
	@touch $@

# Each target sets up what it needs on a machine that has Python 3.11 or later, pip and make.

VENV := .venv
BIN := $(VENV)/bin
# $(call install,PYTHON,WHAT): uv takes seconds where pip takes more than a minute; where it cannot be
# had or fails, pip does it. uv is told the index that pip is set up for: nobody who has a mirror gets
# packages from elsewhere. What was interrupted is installed anew: neither of them would miss a file
# of a package that it believes to be there.
FROM_LOCK := --quiet -c constraints.txt
OUR_PIP := $(BIN)/python -m pip --disable-pip-version-check
anew = $(if $(wildcard $(1).unfinished),$(2))
install = touch $(1).unfinished; \
  index="$$($(OUR_PIP) config list | sed -n "s/.*[.]index-url='\(.*\)'/--default-index=\1/p" | tail -n 1)"; \
  { test -x $(BIN)/uv || $(OUR_PIP) install $(FROM_LOCK) uv; } && \
  UV_HTTP_RETRIES=1 $(BIN)/uv pip install $(FROM_LOCK) $$index $(call anew,$(1),--reinstall) \
  --python $(1) $(2) || { \
  echo "uv could not install it, so pip does, which takes a minute or two."; \
  $(OUR_PIP) --python $(1) install $(FROM_LOCK) $(call anew,$(1),--force-reinstall) $(2); } && \
  rm -f $(1).unfinished
# Python keeps what it has compiled, also where the environment says otherwise: tests start hundreds
# of processes, each of which would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
INPUTS := pyproject.toml constraints.txt
EVERYTHING := .[test,docs]
# Four workers suit the smallest machine we test on, which has two cores: a test often waits for a
# process that it started. `make test WORKERS=auto` takes as many as cores.
WORKERS := 4
ANVIL := 1.7.1
# From GNU make 4 on, what goes side by side is printed one after the other.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test lint anvil unit collected audit bare docs bench house reproduce clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/full ## install the package with everything that tests and documentation need

demo: $(VENV)/small ## the whole story on public data: a record, a report, a model, its accuracy, a picture
	$(BIN)/supm demo

# What takes one core goes side by side, and says all that it has to say when it is done.
test: ## lint, build the documentation, run all tests; stop at the first failure
	@$(MAKE) --no-print-directory --jobs=2 setup anvil
	@$(MAKE) --no-print-directory --jobs=3 $(TOGETHER) lint docs bare collected
	@$(MAKE) --no-print-directory unit

lint: $(VENV)/full ## check style, types and who imports whom
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

anvil: ## install the Ethereum node that tests start into .anvil; it needs npm
	@if command -v anvil >/dev/null || test -d .anvil/node_modules; then :; \
	elif ! command -v npm >/dev/null; then \
	  echo "There is no npm here to install anvil with; the tests that need it are skipped."; \
	elif ! npm install --prefix .anvil --silent --no-fund --no-audit --ignore-scripts \
	  @foundry-rs/anvil@$(ANVIL); then \
	  rm -rf .anvil; echo "npm could not install anvil; the tests that need it are skipped."; fi

unit: $(VENV)/full anvil ## run the tests and the examples of docstrings and documents
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# What pytest compiles when it collects, it keeps: one process does it while a core is free, and not
# each worker anew. What goes wrong is said by `unit`.
collected: $(VENV)/full
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || :

audit: $(VENV)/full ## check every entry of the audit's catalogue, of which make test draws a part
	SUPM_AUDIT_SEED=all $(BIN)/python -m pytest -n $(WORKERS) tests/audit

bare: $(VENV)/full ## answer a study with what `pip install supm` alone brings, in .bare
	@rm -rf .bare
	@$(BIN)/python -m venv --without-pip .bare
	@$(call install,.bare/bin/python,.)
	$(BIN)/python benchmarks/bare.py .bare/bin/supm
	@rm -rf .bare

docs: export OMP_NUM_THREADS := 1
docs: $(VENV)/full ## build the documentation into docs/_build/html; a warning is an error
	@rm -rf docs/api/generated
	$(BIN)/python -m sphinx -W -n -q -b html docs docs/_build/html
	@! grep -rE '<(script|link|img)[^>]*="(https?:)?//' --include='*.html' docs/_build/html \
	  || { echo "A page loads something from another host." >&2; exit 1; }

bench: $(VENV)/full ## measure speed and memory beside other packages, which go into .bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/federation.py
	$(BIN)/python benchmarks/chain.py
	$(BIN)/python benchmarks/publication.py
	$(BIN)/python benchmarks/synthesis.py
	$(BIN)/python benchmarks/synthesis_adult.py

house: $(VENV)/full ## print the sizes of all modules, and what limits on the shape count
	$(BIN)/python scripts/house.py

reproduce: ## rerun a paper's experiments: make reproduce PAPER=name
	@test -n "$(PAPER)" || { echo "Name the paper: make reproduce PAPER=name, a folder of experiments/." >&2; exit 2; }
	@test -f "experiments/$(PAPER)/run.py" || { echo "There is no experiments/$(PAPER)/run.py in this version." >&2; exit 2; }
	@$(MAKE) --no-print-directory setup
	$(BIN)/python "experiments/$(PAPER)/run.py"

clean: ## remove what was built, and the environments
	rm -rf $(VENV) .anvil .bare .bench build dist docs/_build docs/gallery docs/api/generated docs/cli/generated docs/sg_execution_times.rst
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests docs benchmarks experiments scripts -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@for python in python3.11 python3.12 python3.13 python3; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Creating $(VENV) with $$($$python --version)."; \
	    $$python -m venv $(VENV) || { rm -rf $(VENV); exit 1; }; exit 0; \
	  fi; \
	done; echo "SUPM needs Python 3.11 or later, and none was found on the PATH." >&2; exit 1

$(VENV)/small: $(INPUTS) | $(BIN)/python
	@echo "Installing SUPM with its server (some seconds)."
	@$(call install,$(BIN)/python,-e '.[server]')
	@touch $@

$(VENV)/full: $(INPUTS) | $(BIN)/python
	@echo "Installing SUPM with its test and documentation tools (some seconds)."
	@$(call install,$(BIN)/python,-e '$(EVERYTHING)')
	@touch $@ $(VENV)/small

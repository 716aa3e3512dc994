# `make demo` and `make test` need Python 3.10 or newer and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests start many processes, which would each compile all of the package.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick lint docs package clean

demo: $(VENV)/.installed
	$(BIN)/python -m trimtab demo

# 5 min 57 s on two quiet cores once installed, 651 s of processor time.
test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist loadgroup

# 1 min 20 s on two quiet cores: what is marked slow is left out, each test is run on one kind
# of norm, and of what is checked by discovery one case in two to four is run.
quick: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow" --quick

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, into site/; a broken link, or a page that is not there, is an error.
docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Wheel and sdist into dist/, and what is in them.
package: $(VENV)/.installed-dev
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m pytest tests/package

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-test: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e ".[test]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e ".[test,dev]"
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

$(VENV)/.installed-docs: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e ".[docs]"
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist site

# Set-up, the embedded demo, tests. `make demo` and `make test` work from a bare clone.
VENV ?= .venv
PYTHON ?= python3
# processes of the tests; each file of tests stays in one
WORKERS ?= 2
BIN := $(VENV)/bin
export OMP_WAIT_POLICY := PASSIVE
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# byte code makes the second start of every command two to three times quicker
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup demo test lint format bench site docs browser clean

setup: $(VENV)/.installed-dev

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# byte code is compiled when a module is first used: quicker than compiling what never is
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --no-compile --quiet --editable '.[generation]'
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.installed
	$(BIN)/pip install --no-compile --quiet --editable '.[generation,dev]'
	touch $@

demo: $(VENV)/.installed
	$(BIN)/assay demo --out .

test: $(VENV)/.installed-dev browser
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile

browser: $(VENV)/.installed-dev
	$(BIN)/python tests/helpers/browser.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/zizmor --offline --no-progress --quiet --persona pedantic --strict-collection .github

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

site: $(VENV)/.installed
	$(BIN)/assay site build --out site --dataset synavatars

docs: $(VENV)/.installed
	$(BIN)/python -m schemas.reference docs/schemas

bench: $(VENV)/.installed-dev
	$(BIN)/python -m bench $(PARTS)

clean:
	rm -rf results saes judgements images site gate.json sanity.json build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

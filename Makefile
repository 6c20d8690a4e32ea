# Two commands on a fresh machine with Python 3.11 or newer: `make demo` and `make test`.
# Another Python: make demo PYTHON=python3.12

PYTHON ?= python3

# Only relative paths below: the folder may have spaces and accents in its name.
# -X utf8: the link to this folder is read as UTF-8 whatever the locale is.
# -I: no PYTHONPATH, no user packages, no module of the current folder gets in.
VENV_PYTHON = .venv/bin/python -X utf8 -I
FIND_PYTHON = command -v "$(PYTHON)" >/dev/null 2>&1 || { echo "evalkit needs Python 3.11 or newer; there is no $(PYTHON) here. Install one, or name it: make $@ PYTHON=python3.12" >&2; exit 2; }
SET_UP = "$(PYTHON)" -I tools/set_up.py

# Two set-ups at once would get in each other's way.
.NOTPARALLEL:
.PHONY: demo test lint benchmark fuzz requirements

# A full report on the embedded tables, in reports/demo.
demo:
	@$(FIND_PYTHON)
	@$(SET_UP) run
	@$(VENV_PYTHON) -m evalkit demo -o reports/demo

# The whole test suite.
test:
	@$(FIND_PYTHON)
	@$(SET_UP) test
	@$(VENV_PYTHON) -m pytest -n auto --dist loadfile

# Style and types.
lint:
	@$(FIND_PYTHON)
	@$(SET_UP) test
	@$(VENV_PYTHON) -m ruff check
	@$(VENV_PYTHON) -m ruff format --check
	@$(VENV_PYTHON) -m mypy

# Running times beside those of peers; never part of the test run.
benchmark:
	@$(FIND_PYTHON)
	@$(SET_UP) run
	@$(VENV_PYTHON) benchmarks/run.py

# For maintainers, with uv: renews nothing by itself, add `UPGRADE=--upgrade` for that.
# --no-config keeps the settings of one machine out of the files.
COMPILE = uv pip compile --no-config --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet $(UPGRADE) pyproject.toml requirements/build.in
requirements:
	$(COMPILE) -o requirements/run.txt
	$(COMPILE) --extra test -c requirements/run.txt -o requirements/test.txt

# Hostile inputs for a time, after a change of what reads files; never part of the test run.
MINUTES ?= 10
fuzz:
	@$(FIND_PYTHON)
	@$(SET_UP) test
	@$(VENV_PYTHON) tools/fuzz.py $(MINUTES)

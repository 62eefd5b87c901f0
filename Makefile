# Everything a fresh machine with Python 3 and make needs: `make demo`, `make test`, `make bench`.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin

.PHONY: demo test lint bench docs-tables clean

demo: $(VENV)/core
	$(RUN)/linkwork demo

test: lint
	$(RUN)/python -m pytest -n auto

lint: $(VENV)/test
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/basedpyright

bench: $(VENV)/bench
	$(RUN)/python benchmarks/run.py

docs-tables: $(VENV)/core
	$(RUN)/python docs/update_tables.py
	$(RUN)/python docs/update_passes.py

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of dependencies, made anew when pyproject.toml changes.
$(VENV)/core: pyproject.toml | $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/%: pyproject.toml | $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	touch $@ $(VENV)/core

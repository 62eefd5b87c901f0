# Everything a fresh machine with Python 3 and make needs: `make demo`, `make test`, `make bench`, `make docs`.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin

.PHONY: demo test lint bench docs docs-tables clean

demo: $(VENV)/plot
	$(RUN)/linkwork demo
	mkdir -p demo
	$(RUN)/linkwork simulate panda --goal 0.8,0.4,0,-1.6,0,2,0.8 --duration 1.5 --plot demo/motion.png -o demo/motion.npz
	$(RUN)/linkwork report panda --force -o demo/report.html

test: lint
	$(RUN)/python -m pytest -n auto

lint: $(VENV)/test
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/basedpyright

bench: $(VENV)/bench
	$(RUN)/python benchmarks/run.py

docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict

docs-tables: $(VENV)/test
	$(RUN)/python docs/update_tables.py
	$(RUN)/python docs/update_passes.py
	$(RUN)/python docs/update_integrators.py
	$(RUN)/python docs/update_notebook.py

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

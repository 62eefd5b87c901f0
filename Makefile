# Everything a fresh machine with Python 3 and make needs. CONTRIBUTING.md explains each target.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin

.PHONY: demo quick test full lint bench docs docs-tables dist clean

demo: $(VENV)/plot
	$(RUN)/linkwork demo
	mkdir -p demo
	$(RUN)/linkwork simulate panda --goal 0.8,0.4,0,-1.6,0,2,0.8 --duration 1.5 --plot demo/motion.png -o demo/motion.npz
	$(RUN)/linkwork report panda --overwrite -o demo/report.html

quick: SOME := --quick
quick: test

full: SOME := --full
full: test

# Types are checked while the tests run, which saves half a minute.
test: $(VENV)/test
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/codespell -D- -D tests/american.txt
	$(RUN)/basedpyright & types=$$!; OPENBLAS_NUM_THREADS=1 $(RUN)/python -m pytest -n auto $(SOME) && wait $$types

lint: $(VENV)/test
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/codespell -D- -D tests/american.txt
	$(RUN)/basedpyright

bench: $(VENV)/bench
	$(RUN)/python benchmarks/run.py
	for each in together inverse_kinematics closed_form path_timing; do $(RUN)/python benchmarks/$$each.py || exit 1; done

docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict

docs-tables: $(VENV)/test
	$(RUN)/python docs/update_tables.py
	$(RUN)/python docs/update_passes.py
	$(RUN)/python docs/update_integrators.py
	$(RUN)/python docs/update_maps.py
	$(RUN)/python docs/update_notebook.py

# The artefacts of a release, tried as a user would: in an environment that has nothing but the wheel.
dist: $(VENV)/release
	rm -rf dist build/fresh
	$(RUN)/python -m build
	$(RUN)/twine check --strict dist/*
	$(PYTHON) -m venv --upgrade-deps build/fresh
	build/fresh/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && fresh/bin/python -c "from linkwork import *"
	cd build && fresh/bin/linkwork demo

clean:
	rm -rf $(VENV) build dist

$(VENV)/bin/python:
	$(PYTHON) -m venv --upgrade-deps $(VENV)

# One stamp per set of dependencies, made anew when pyproject.toml changes.
$(VENV)/core: pyproject.toml | $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/%: pyproject.toml | $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	touch $@ $(VENV)/core

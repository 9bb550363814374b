# Every target sets itself up: Python 3.11 or newer and make are all it takes.
SHELL := /bin/sh
PYTHON ?= python3
ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
VENV := $(ROOT)/.venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Recipes run in the project's folder whatever folder make was called from.
.ONESHELL:
.PHONY: demo test lint bench lock docs clean ui
.DEFAULT_GOAL := demo

demo: $(READY)
	@cd "$(ROOT)" && "$(BIN)/apportion" demo

test: $(READY)
	@cd "$(ROOT)" && "$(BIN)/python" -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

lint: $(READY)
	@cd "$(ROOT)" && "$(BIN)/ruff" check . && "$(BIN)/ruff" format --check . && "$(BIN)/mypy" && "$(BIN)/lint-imports"

bench: $(READY)
	@cd "$(ROOT)" && "$(BIN)/python" -m benchmarks

docs: $(READY)
	@cd "$(ROOT)" && "$(BIN)/python" -m warehouse.docs

ui: $(READY)
	@cd "$(ROOT)" && "$(BIN)/apportion" ui

# The environment: everything pinned by hash, then the checkout itself, without asking an index for more.
$(READY): $(ROOT)/requirements.lock $(ROOT)/pyproject.toml
	@cd "$(ROOT)" && \
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Apportion needs Python 3.11 or newer: make PYTHON=python3.11 ...")' && \
	{ test -x "$(BIN)/python" || "$(PYTHON)" -m venv "$(VENV)"; } && \
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock && \
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . && \
	touch "$(READY)"

# Pins anew. The lock names no host: whoever installs uses the index their pip is set up for.
lock:
	@cd "$(ROOT)" && uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra dev \
		--no-emit-index-url --no-emit-find-links --no-header --no-annotate --output-file requirements.lock pyproject.toml

clean:
	rm -rf "$(VENV)"

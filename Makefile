# Everything a developer does, by name. Needs make and Python 3.11 or newer as
# `python3`; what else is needed is put into .venv/ by the first target that asks.

PYTHON ?= python3
UV ?= uv

BIN := .venv/bin
PYTEST = $(BIN)/python -m pytest
# Two processes, each with whole files: what a file computes once stays in one of them.
# In the order of folders, not of numbers of tests: few tests that take long would be last.
# A process that dies ends the run: with files as parcels, another one waits for ever.
PARALLEL ?= -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
PATIENT = --timeout 3600 -o faulthandler_timeout=7200

# What one process has compiled, the hundreds after it need not, whoever forbids it.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test coverage test-slow test-all test-cluster lint format types contracts \
	scenarios house roles chart pictures docs audit bench check lock release clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' \
		$(MAKEFILE_LIST)

setup: .venv/.command ## make .venv/ with all requirements and the command

demo: setup ## run one round where greedy starts less than the solver
	$(BIN)/phalanx plan scenarios/demo/fragmented.yaml --diff greedy

test: setup ## run the tests, in three minutes on two processors
	$(PYTEST) $(PARALLEL) -m "not slow and not cluster"

# Of random cases a day draws some, and whoever asks for all of the tests gets all.
coverage test-all: export DRAWN = all

coverage: setup ## run the tests and say which lines they never reach
	$(PYTEST) $(PARALLEL) -m "not slow and not cluster" --cov=models --cov=solver \
		--cov=adapters --cov-report=term:skip-covered

test-slow: setup ## run the slow tests: hundreds of cases against the exact model
	$(PYTEST) $(PARALLEL) -m "slow and not cluster" $(PATIENT)

test-all: setup ## run the slow tests too
	$(PYTEST) $(PARALLEL) -m "not cluster" $(PATIENT)

test-cluster: setup ## run the tests against a real API server (built once: 10 minutes)
	@$(BIN)/python -m tests.cluster.binaries $(PYTEST) -m cluster \
		--timeout 1800 -o faulthandler_timeout=3600 tests/cluster

lint: setup ## check rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup ## format, and repair what can be repaired safely
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: setup ## check types
	$(BIN)/mypy

contracts: setup ## check the import contracts
	$(BIN)/lint-imports

house: setup ## print the structure beside its goals
	$(BIN)/python -m tests.house

scenarios: setup ## run every scenario with both strategies
	$(BIN)/phalanx scenario run

roles: setup ## write the roles of deploy/ anew, after a change of what is asked for
	$(BIN)/phalanx config role > deploy/base/role.yaml
	$(BIN)/phalanx config role --shard blue | sed '1,/^---$$/d' \
		> deploy/overlays/shard/role.yaml
	$(BIN)/phalanx config role --observe --shard default \
		> deploy/overlays/observe/role.yaml
	$(BIN)/python -m tools.chart

chart: setup ## write chart and dashboard anew, after a change of deploy/
	$(BIN)/python -m tools.dashboard
	$(BIN)/python -m tools.chart

pictures: setup ## draw the pictures of README and documents anew
	$(BIN)/python -m tools.pictures

docs: setup ## run the examples of the documents
	$(PYTEST) tests/docs

# Needs the network, and an environment of its own: what audits is no part of the lock.
audit: ## look up known faults of the locked requirements
	$(PYTHON) -m venv --clear .venv/audit
	.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.venv/audit/bin/pip-audit --disable-pip --require-hashes --progress-spinner off \
		-r requirements/build.txt -r requirements/run.txt

bench: setup ## measure the performance contract
	$(BIN)/phalanx bench

check: ## do all that CI does
	.ci/run

lock: ## pin the requirements again, with hashes and without addresses (needs uv)
	$(UV) pip compile $(LOCK) pyproject.toml -o requirements/run.txt
	$(UV) pip compile $(LOCK) pyproject.toml --group dev \
		-c requirements/run.txt -o requirements/dev.txt
	$(UV) pip compile $(LOCK) --group build \
		-c requirements/dev.txt -o requirements/build.txt

release: setup ## write VERSION and the changelog, build and try what is handed out
	@$(BIN)/python -m tools.release $(VERSION)

clean: ## remove .venv/, caches and built files
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache \
		.ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

LOCK := --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-header --no-emit-index-url --no-emit-find-links --no-strip-extras

# Each stamp is made again when what it was made from has changed. Modules are
# compiled when they are first imported: most of what is installed never is.
.venv/.requirements: requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Phalanx needs Python 3.11 or newer;" \
			"$(PYTHON) is $$($(PYTHON) --version 2>&1)." \
			"Name another one: make PYTHON=python3.12 setup" >&2; exit 1; }
	@echo "Setting up .venv/ (about a minute, once) ..." >&2
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-compile --require-hashes -r requirements/dev.txt
	@touch $@

.venv/.command: .venv/.requirements pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation --editable .
	@touch $@

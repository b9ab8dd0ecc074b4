# Every step of CI is a target here, so that a laptop does what CI does.

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= auto
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := examples/wine-classifiers
ifdef STORE
export REPROBRIDGE_STORE := $(abspath $(STORE))
endif
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup demo test unit lint check bench templates golden action clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Create .venv and install ReproBridge with its tools for developers

# Anew when a dependency may have changed. venv needs ensurepip, which Debian packages apart.
$(READY): pyproject.toml
	@test -x $(BIN)/python || .ci/find-python "$(PYTHON)" -m venv $(VENV)
	@echo "installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: setup ## Lock, build and validate a paper's artifact, then measure one of its numbers (STORE=DIR: in a store of its own)
	$(BIN)/reprobridge lock $(DEMO)
	$(BIN)/reprobridge build $(DEMO)
	$(BIN)/reprobridge validate $(DEMO)
	$(BIN)/reprobridge run $(DEMO) lda

test: setup ## Run all tests
	$(PYTEST) tests

unit: setup ## Run the tests that need no service and no network, and take no time
	$(PYTEST) -m 'not slow and not network' tests/unit tests/house

lint: setup ## Check style, types, boundaries, the launcher's Python version, workflows
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/vermin --quiet --no-tips --eval-annotations --violations --target=3.6- builder/reprobridge_launcher
	$(BIN)/zizmor --offline --quiet .github

check: lint unit ## What to run before each commit: lint and the quick tests

bench: setup ## Measure against other image builders, and pushes against skopeo (needs docker, umoci, skopeo, docker-registry)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.publishing

templates: setup ## Lock every image template anew, into lockfiles/
	$(BIN)/reprobridge template lock

golden: setup ## Pin this release's tools in the repository's locks, and write the images' digests anew
	@for artifact in examples/* tests/artifacts/*; do \
		$(BIN)/reprobridge lock --upgrade-tools $$artifact && \
		$(BIN)/reprobridge build $$artifact --digest-file $$artifact/image.digest || exit 1; \
	done

action: setup ## Lock what the publishing action installs, into .github/actions/publish
	@echo 'hatchling>=1.27' | $(BIN)/uv pip compile pyproject.toml - --extra sigstore --quiet --upgrade --universal \
		--python-version 3.13 --no-build --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--output-file .github/actions/publish/requirements.txt

clean: ## Remove the virtual environment and the tools' caches
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

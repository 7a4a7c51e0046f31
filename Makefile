# Every target does its own set-up: Python >= 3.11, Node >= 20 and make are all that a machine needs.
# `make help` lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
# Only `make test` and `make test-all` make several things at once.
ifndef TOGETHER
.NOTPARALLEL:
endif
# An image that keeps Python from writing bytecode would have each of a thousand starts compile everything.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CLIENT := vscode-client
# A wheel is tried in an environment of its own, far from the checkout's packages.
TRIAL := build/package-check

# The stamps stand in for "installed from exactly these files", so that a second run is quick.
VENV_STAMP := $(VENV)/.installed
NODE_STAMP := $(CLIENT)/node_modules/.installed

# What the server says in each suite is recorded, and `make protocol` holds it against the protocol.
PROTOCOL := tests/protocol
PROTOCOL_STAMP := $(PROTOCOL)/node_modules/.installed
PROTOCOL_SCHEMA := $(PROTOCOL)/build/schema.json
MESSAGES := $(CURDIR)/build/messages
pytest clients e2e: export DRIVE_TRACE_MESSAGES = $(MESSAGES)/$@

comma := ,
heading = @printf '\n== %s\n' "$(1)"

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---------------------------------------------------------------------------- set-up

.PHONY: venv
venv: $(VENV_STAMP) ## Create .venv from the lock file, with drive-trace installed in it

# PYTHON=... picks an interpreter; otherwise the first one that is new enough. $(1) is the folder.
define create-environment
	@new_enough='import sys; sys.exit(sys.version_info < (3, 11))'; \
	if ! $(1)/bin/python -c "$$new_enough" 2>/dev/null; then \
	  found=; \
	  for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	    if "$$candidate" -c "$$new_enough" >/dev/null 2>&1; then found=$$candidate; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "Python 3.11 or newer is needed, and none of these is one: $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python)." >&2; \
	    echo "Install one, or name it: make PYTHON=/path/to/python3 $(or $(MAKECMDGOALS),venv)" >&2; \
	    exit 1; \
	  fi; \
	  echo "Creating $(1) with $$("$$found" --version)"; \
	  "$$found" -m venv --clear $(1) || { \
	    echo "$$found cannot create a virtual environment (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }; \
	fi
endef

$(VENV_STAMP): requirements-dev.lock pyproject.toml
	$(call create-environment,$(VENV))
	@echo "Installing requirements-dev.lock and drive-trace into $(VENV)"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: node
node:
	@node -e 'process.exit(parseInt(process.versions.node, 10) >= 20 ? 0 : 1)' 2>/dev/null && command -v npm >/dev/null || { \
	  echo "Node 20 or newer with npm is needed (found: $$(node --version 2>/dev/null || echo no node))." >&2; \
	  exit 1; }

$(NODE_STAMP): $(CLIENT)/package-lock.json | node
	@echo "Installing $(CLIENT)/package-lock.json"
	@cd $(CLIENT) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PROTOCOL_STAMP): $(PROTOCOL)/package-lock.json | node
	@echo "Installing $(PROTOCOL)/package-lock.json"
	@cd $(PROTOCOL) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PROTOCOL_SCHEMA): $(PROTOCOL)/generate.mjs $(CLIENT)/src/protocol.ts $(PROTOCOL_STAMP)
	@echo "Making JSON Schemas of the protocol's types"
	@cd $(PROTOCOL) && npm run --silent generate

# ---------------------------------------------------------------------------- use

# Who only tries it installs what it runs on, a third of what the tests need.
TRIED := $(if $(wildcard $(VENV_STAMP)),$(VENV),build/tried)
ifneq ($(TRIED),$(VENV))
$(TRIED)/.installed: requirements.lock requirements-build.lock pyproject.toml
	$(call create-environment,$(TRIED))
	@echo "Installing requirements.lock and drive-trace into $(TRIED)"
	@$(TRIED)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements.lock -r requirements-build.lock
	@$(TRIED)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation .
	@touch $@
endif

.PHONY: demo
demo: $(TRIED)/.installed ## Check and score the example traces
	$(call heading,Three clean traces: nothing to report)
	$(TRIED)/bin/drive-trace check examples/projects/checkout-retry examples/projects/search-index examples/wip
	$(call heading,A trace with typical mistakes: every finding on its token)
	@echo '$(TRIED)/bin/drive-trace check examples/projects/typical-mistakes'; \
	code=0; $(TRIED)/bin/drive-trace check examples/projects/typical-mistakes || code=$$?; \
	if [ $$code -ne 1 ]; then echo "exit $$code, but 1 was expected: the trace has errors" >&2; exit 1; fi; \
	echo "exit 1, as it should: the trace has errors"
	$(call heading,The verdicts: CORRECT - INCORRECT - not computable)
	$(TRIED)/bin/drive-trace score examples/projects examples/wip

.PHONY: demo-grading
demo-grading: venv ## Grade two example runs: gate, judge and record, with no network
	@PATH="$(CURDIR)/$(BIN):$$PATH" examples/grading/demo.sh

# ---------------------------------------------------------------------------- tests

.PHONY: test
test: parts e2e ## Python, the client, and one story in a real VS Code
	@echo; echo "make test: all of it passed; make test-all plays every story and client"
test: PARTS = lint types arrows pytest client
test: STORY = a server on the PATH

.PHONY: test-all
test-all: parts e2e protocol ## Everything below
	@echo; echo "make test-all: all of it passed"

# Beside each other, two at a time. The stories in VS Code come after them, alone: where another part
# takes the cores, a click or a key may meet a window that is not ready.
# Without --output-sync (GNU make 4) one after another, as their lines would be mixed.
PARTS := lint types arrows pytest e2e-report e2e-page clients client package wasm
.PHONY: parts
parts: machine
ifneq ($(filter output-sync,$(.FEATURES)),)
	$(call heading,$(PARTS): two at a time$(comma) each shown when it has ended)
	@$(MAKE) TOGETHER=1 --jobs=2 --output-sync=target $(PARTS)
else
	@$(MAKE) $(PARTS)
endif

# What the parts need of the machine is installed before them, by one after another: apt does not wait.
.PHONY: machine
machine: venv
	@$(if $(filter clients,$(PARTS)),$(BIN)/python -m tests.clients.install)
	@! $(MAKE) $(NODE_STAMP) || { cd $(CLIENT) && npm run --silent e2e:machine; }

.PHONY: lint
lint: venv ## Ruff: lint and format
	$(call heading,lint)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: types
types: venv ## mypy in strict mode over the package
	$(call heading,types)
	$(BIN)/mypy

.PHONY: arrows
arrows: venv ## The layers of the package (import-linter)
	$(call heading,arrows)
	$(BIN)/lint-imports

.PHONY: pytest
pytest: venv ## All Python tests but clients, also that what is generated is fresh
	$(call heading,pytest)
	@rm -rf $(DRIVE_TRACE_MESSAGES)
	$(BIN)/pytest -n auto --ignore=tests/clients

# The tests say what is missing when they are skipped.
# With DRIVE_TRACE_E2E=required (as .ci/run sets it) that is a failure.
.PHONY: clients
clients: venv ## Scripted sessions in Neovim, Emacs and shells, headless
	$(call heading,clients)
	@$(BIN)/python -m tests.clients.install
	@rm -rf $(DRIVE_TRACE_MESSAGES)
	$(BIN)/pytest tests/clients -rs

.PHONY: client
client: $(NODE_STAMP) ## The VS Code extension: lint, types, build, unit tests
	$(call heading,client)
	cd $(CLIENT) && npm run --silent lint && npm run --silent typecheck && npm run --silent build && npm test --silent

# `make pytest` draws the same each time; this looks further.
.PHONY: fuzz
fuzz: venv ## Explore with the property tests, drawing anew each time (MINUTES=10)
	$(call heading,fuzz)
	$(BIN)/python tools/fuzz.py $(or $(MINUTES),10)

# The engines have half a gigabyte, which no other test needs.
ENGINES := build/engines
$(ENGINES)/.installed: requirements-dev.lock requirements-fleet.lock pyproject.toml
	$(call create-environment,$(ENGINES))
	@echo "Installing requirements-dev.lock, requirements-fleet.lock and drive-trace into $(ENGINES)"
	@$(ENGINES)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements-dev.lock -r requirements-fleet.lock
	@# Ray takes the namespace of this package for the whole of OpenTelemetry, and does not start.
	@$(ENGINES)/bin/python -m pip --disable-pip-version-check --quiet uninstall --yes opentelemetry-proto
	@rm -rf $(ENGINES)/lib/python*/site-packages/opentelemetry # the folder that pip leaves, empty
	@$(ENGINES)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: fleet-test
fleet-test: $(ENGINES)/.installed ## The engines of fleet: Daft, and a cluster of Ray on this machine
	$(call heading,fleet-test)
	$(ENGINES)/bin/pytest tests/engines -rs

# The package and what it runs on, for Pyodide, which npm has.
WASM := build/wasm
WASM_PLATFORM := --only-binary :all: --python-version 3.14 --platform pyemscripten_2026_0_wasm32
$(WASM)/.installed: requirements-wasm.lock | venv
	@echo "Installing requirements-wasm.lock into $(WASM)/packages"
	@rm -rf $(WASM)/packages
	@$(PIP) install --no-deps --require-hashes $(WASM_PLATFORM) --target $(WASM)/packages -r requirements-wasm.lock
	@touch $@

.PHONY: wasm-packages
wasm-packages: venv $(NODE_STAMP) $(WASM)/.installed
	@rm -rf $(WASM)/own
	@$(PIP) install --no-deps --no-build-isolation --no-compile --target $(WASM)/own .

.PHONY: wasm
wasm: wasm-packages ## The package in WebAssembly says what it says in Python, byte for byte
	$(call heading,wasm)
	$(BIN)/python -m tests.wasm.everything_said $(WASM)/python.txt
	@cd tests/wasm && node run.mjs $(CURDIR)/$(WASM) $(CURDIR)/$(WASM)/webassembly.txt
	@cmp $(WASM)/python.txt $(WASM)/webassembly.txt && echo "the same in both"

PAGE := build/page
.PHONY: page
page: wasm-packages ## Build the page without a server: static files in build/page
	$(call heading,page)
	@rm -rf $(PAGE)
	@cd $(CLIENT) && node wasm.mjs $(CURDIR)/$(PAGE)
	@$(BIN)/drive-trace report --format html examples/projects/search-index > $(WASM)/report.html
	@$(BIN)/drive-trace compare --format html --baseline examples/projects/search-index --candidate examples/projects/checkout-retry > $(WASM)/comparison.html || [ $$? -eq 3 ]
	@cd $(CLIENT) && node build-page.mjs $(CURDIR)/$(PAGE) $(CURDIR)/$(WASM)/report.html $(CURDIR)/$(WASM)/comparison.html
	@du -sh $(PAGE)

# Exit code 3 of the script means that this machine cannot run it; the script says why.
# With DRIVE_TRACE_E2E=required (as .ci/run sets it) that is a failure.
.PHONY: e2e
e2e: venv vsix ## The extension in a real VS Code, headless
	$(call heading,e2e)
	@rm -rf $(DRIVE_TRACE_MESSAGES)
	@cd $(CLIENT) && code=0; npm run --silent e2e -- $(if $(STORY),--scenario "$(STORY)") || code=$$?; \
	if [ $$code -eq 3 ] && [ "$$DRIVE_TRACE_E2E" != required ]; then \
	  echo "e2e skipped, for the reason above"; \
	elif [ $$code -ne 0 ]; then exit $$code; fi

.PHONY: protocol
protocol: ## One more session, then all messages recorded by now against Microsoft's types
	$(call heading,protocol)
	@if $(MAKE) node; then $(MAKE) messages; \
	elif [ "$$DRIVE_TRACE_E2E" != required ]; then echo "protocol skipped, for the reason above"; \
	else exit 1; fi

.PHONY: messages
messages: venv $(PROTOCOL_SCHEMA)
	@rm -rf $(MESSAGES)/session
	cd $(PROTOCOL) && DRIVE_TRACE_MESSAGES=$(MESSAGES)/session npm run --silent session
	cd $(PROTOCOL) && DRIVE_TRACE_MESSAGES=$(MESSAGES) npm run --silent validate

.PHONY: e2e-report
e2e-report: venv $(NODE_STAMP) ## HTML reports in a real browser, headless
	$(call heading,e2e-report)
	@cd $(CLIENT) && code=0; npm run --silent e2e:report || code=$$?; \
	if [ $$code -eq 3 ] && [ "$$DRIVE_TRACE_E2E" != required ]; then \
	  echo "e2e-report skipped, for the reason above"; \
	elif [ $$code -ne 0 ]; then exit $$code; fi

.PHONY: e2e-page
e2e-page: page ## The page without a server in a real browser, headless
	$(call heading,e2e-page)
	@cd $(CLIENT) && code=0; npm run --silent e2e:page || code=$$?; \
	if [ $$code -eq 3 ] && [ "$$DRIVE_TRACE_E2E" != required ]; then \
	  echo "e2e-page skipped, for the reason above"; \
	elif [ $$code -ne 0 ]; then exit $$code; fi

# Reads findings on standard input: the installed package must hold the page of each.
define PAGES_EXIST
import json, pathlib, sys, drive_trace
pages = pathlib.Path(drive_trace.__file__).parent / "rule_pages"
found = {finding["code"] for finding in json.load(sys.stdin)}
missing = sorted(found - {page.stem for page in pages.glob("*.md")})
sys.exit(f"rules without a page in the installed package: {missing}" if missing or not found else 0)
endef
export PAGES_EXIST

.PHONY: package
package: venv ## Build sdist and wheel, and try the wheel in a fresh environment
	$(call heading,package)
	@rm -rf dist $(TRIAL)
	$(BIN)/python -m build --quiet --no-isolation --outdir dist .
	@$(BIN)/python -m venv $(TRIAL)
	@$(TRIAL)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements.lock
	@$(TRIAL)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps dist/drive_trace-*.whl
	$(TRIAL)/bin/drive-trace check examples/projects/checkout-retry
	@code=0; $(TRIAL)/bin/drive-trace check --output-format json examples/projects/typical-mistakes > $(TRIAL)/findings.json || code=$$?; \
	if [ $$code -ne 1 ]; then echo "check of typical-mistakes: exit $$code, but 1 was expected" >&2; exit 1; fi
	@$(TRIAL)/bin/python -c "$$PAGES_EXIST" < $(TRIAL)/findings.json
	@$(TRIAL)/bin/drive-trace schema round-start | cmp - schemas/round-start.schema.json
	@echo "installed from the wheel: drive-trace runs, and the pages of its rules are there"

# What is missing is named before minutes of set-up, where a Python is there.
.PHONY: ready
ready:
	@python=$(or $(wildcard $(BIN)/python),$(PYTHON),python3); \
	if [ -z "$(UNREADY)" ] && $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  $$python tools/release.py --check; \
	fi

.PHONY: release
release: ready venv $(NODE_STAMP) ## Build all files of a release into dist/ (AGAIN=1 builds twice and compares)
	$(call heading,release)
	$(BIN)/python tools/release.py $(if $(AGAIN),--again) $(if $(UNREADY),--unready)

.PHONY: bench
bench: venv ## Measure speed and memory beside their floors; BASE=COMMIT compares in pairs
	$(BIN)/python -m tests.bench $(if $(BASE),--base $(BASE)) $(BENCH)

# ---------------------------------------------------------------------------- upkeep

.PHONY: generate
generate: venv $(NODE_STAMP) ## Write again what is generated from the declarations
	$(BIN)/python tools/generate.py
	@cd $(CLIENT) && npm run --silent l10n

.PHONY: snapshots
snapshots: venv ## Accept the present output as the expected output of snapshot tests
	$(BIN)/pytest --update-snapshots

.PHONY: format
format: venv ## Format the Python code and apply ruff's safe fixes
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: vsix
vsix: wasm-packages ## Package the VS Code extension with its server (TARGET=win32-x64, ...)
	$(call heading,vsix)
	$(BIN)/python tools/bundle.py $(TARGET)
	@cd $(CLIENT) && node wasm.mjs server/wasm
	@cd $(CLIENT) && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 946684800) npm run --silent package

.PHONY: vscode
vscode: venv vsix ## Start a VS Code with the extension and the examples, for a browser (PORT=8080)
	@cd $(CLIENT) && exec npm run --silent vscode -- $(if $(PORT),--port $(PORT))

.PHONY: picture
picture: venv vsix page ## Take the documentation's pictures again, in a real VS Code and a browser
	@cd $(CLIENT) && npm run --silent e2e -- --pictures
	@cd $(CLIENT) && npm run --silent e2e:report -- --picture ../docs/images/report.png
	@cd $(CLIENT) && npm run --silent e2e:page -- --picture ../docs/images/page.png

# Resolved for every platform and Python at once: what only Windows needs stands behind a marker.
COMPILE := UV_CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
  --generate-hashes $(if $(UPGRADE),--upgrade)
BUILD_REQUIRES := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")
.PHONY: lock
lock: venv ## Resolve the lock files again (UPGRADE=1 takes newer releases)
	$(COMPILE) --output-file requirements.lock pyproject.toml
	$(COMPILE) --group dev --constraints requirements.lock --output-file requirements-dev.lock pyproject.toml
	$(COMPILE) --extra judge --constraints requirements-dev.lock --output-file requirements-bundle.lock pyproject.toml
	@$(BIN)/python -c '$(BUILD_REQUIRES)' | $(COMPILE) --constraints requirements-dev.lock --output-file requirements-build.lock -
	$(COMPILE) --no-emit-package orjson --constraints requirements.lock --output-file requirements-wasm.lock pyproject.toml
	$(COMPILE) --extra fleet-ray --constraints requirements-dev.lock --output-file requirements-fleet.lock pyproject.toml
	$(COMPILE) --group clients --output-file tests/clients/requirements.lock

.PHONY: clean
clean: ## Remove everything that the other targets create
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .cache
	rm -rf $(CLIENT)/node_modules $(CLIENT)/out $(CLIENT)/dist $(CLIENT)/*.vsix
	rm -rf $(CLIENT)/server/bundle.json $(CLIENT)/server/pure $(CLIENT)/server/cp3* $(CLIENT)/server/wasm
	rm -rf $(PROTOCOL)/node_modules $(PROTOCOL)/build
	find server tests tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

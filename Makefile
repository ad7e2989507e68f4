# Every target sets up what it needs in .venv; a fresh machine needs python3, cargo and make.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := check,cloud,cluster,docs,report,test
# The lock names everything, so nothing is left to resolve. uv takes a tenth of pip's time; pip serves where uv cannot
# reach the index.
INSTALL := uv pip install --quiet --python $(VENV) --no-deps -r requirements-dev.lock
# Where this is set, each of the thousands of programs that the tests start would compile all its libraries again.
unexport PYTHONDONTWRITEBYTECODE
# Programs that share out their work themselves, whatever make does beside them: cargo would take make's two jobs for all.
ALONE := env -u MAKEFLAGS -u MFLAGS
# Ledgers wait for the disk at each commit. Those of tests have nothing to survive: they are kept in memory where there is room.
ROOM := $(shell df -k --output=avail /dev/shm 2>/dev/null | tail -1)
SCRATCH := $(shell test -w /dev/shm && test "$(ROOM)" -gt 3000000 2>/dev/null && echo TMPDIR=/dev/shm)
RUST := $(shell find rust -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: help
help:  ## Say what the targets are
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/installed: pyproject.toml requirements-dev.lock $(RUST)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' 'uv>=0.8'
	$(BIN)/$(INSTALL) || $(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-dev.lock
	$(ALONE) VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --uv --release --locked --quiet
	touch $@

.PHONY: setup
setup: $(VENV)/installed  ## Build the core and install everything into .venv

.PHONY: demo
demo: setup  ## Set up and run the main job end to end
	PATH="$(abspath $(BIN)):$$PATH" bash studies/demo.sh

.PHONY: pictures
pictures: setup  ## Pages of every kind as pictures in build/pictures: light, dark, phone, print; needs chromium
	PATH="$(abspath $(BIN)):$$PATH" bash tests/every_kind.sh build/every-kind
	$(BIN)/python -m tests.pictures build/pictures build/every-kind/site build/every-kind/*.html

.PHONY: test
test:  ## Set up and pass every test, Rust and Python, the same cases every time
	$(MAKE) --no-print-directory -j 2 test-rust test-python

# Side by side: while one waits for a link, the network or its longest test, the other computes. What Rust prints comes at
# once, when it is done. What an incremental build keeps for the next one costs a fifth of compiling from nothing.
.PHONY: test-rust
test-rust:
	mkdir -p build
	$(ALONE) CARGO_INCREMENTAL=0 PROPTEST_RNG_SEED=1 cargo test --locked --quiet > build/test-rust.txt 2>&1; code=$$?; cat build/test-rust.txt; exit $$code

.PHONY: test-python
test-python: setup
	$(ALONE) $(SCRATCH) $(BIN)/python -m pytest -q -n auto --dist worksteal

.PHONY: quick
quick: setup  ## Lint of Python and the unit tests, in a minute: what to run while working
	$(BIN)/ruff check --quiet .
	$(SCRATCH) $(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" tests/unit

.PHONY: fuzz
fuzz: setup  ## Property tests with new cases every time, and many more of them
	CARGO_INCREMENTAL=0 PROPTEST_CASES=2000 cargo test --locked --quiet
	HYPOTHESIS_PROFILE=fuzz PERCUSS_SEEDS=5000 $(BIN)/python -m pytest -q -n auto tests/property tests/unit/test_ledger_faults.py
	$(BIN)/python -m tests.fuzz 300

.PHONY: lint
lint: setup  ## Format, lints, types, stub against extension
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest percuss._core --concise

.PHONY: check
check: lint test  ## All a reviewer would look at: lint and test

.PHONY: bench
bench: setup  ## Benchmarks: ratios, measured in one run
	cargo bench --locked --quiet
	$(BIN)/python -m tests.bench

.PHONY: docs
docs: setup  ## Build the documentation as a site that needs no network: build/site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

.PHONY: man
man: setup  ## Write man pages and shell completions to build/share
	$(BIN)/python docs/generate/man.py build/share

.PHONY: wheels
wheels:  ## Build wheel and sdist of this machine, and try each in an environment of its own
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' 'ziglang>=0.13'
	rm -rf build/dist build/try
	$(BIN)/maturin sdist --out build/dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin build --release --locked --quiet --zig --compatibility manylinux_2_28 --out build/dist
	for made in build/dist/*; do \
	  rm -rf build/try && $(PYTHON) -m venv build/try && \
	  build/try/bin/pip install --quiet --disable-pip-version-check "$$made[report]" && \
	  PATH="$(abspath build/try/bin):$$PATH" bash packaging/try-wheel.sh || exit 1; \
	done

.PHONY: lock
lock: setup  ## Write requirements-dev.lock with the newest versions that fit
	mkdir -p build
	{ head -1 requirements-dev.lock; $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11.7 --no-header \
	  --no-annotate --no-emit-index-url $(addprefix --extra ,$(shell echo $(EXTRAS) | tr , ' ')) pyproject.toml; } > build/lock
	mv build/lock requirements-dev.lock

.PHONY: clean
clean:  ## Delete what was built
	rm -rf $(VENV) target demo build
	find . -name '*.so' -path './pytools/*' -delete

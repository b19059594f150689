# Everything here needs Python 3.11 or newer, make and git; the rest is installed into .venv.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
DEALS ?= 1e6
RUN ?= runs/first

BIN := .venv/bin

# For how many rollouts a choice, on average, the strength of `search` is measured.
ROLLOUTS := 25 50 100 200 400 800
# What each of its improvements gives: none, its policy, its worlds, its rounds.
STEPS := search:rollouts=300:policy=greedy:worlds=alike:rounds=alike search:rollouts=300:worlds=alike:rounds=alike \
	search:rollouts=300:rounds=alike search:rollouts=300

# The run in data/sample (data/README.md).
SAMPLE := --deals 2400 --strategies greedy,greedy,greedy,random --seating rotate --events

.PHONY: help simulate test lint types unit slow bench strength sample clean

help:
	@echo "make simulate   play a million deals into $(RUN) and print the report (DEALS=1e7 for more)"
	@echo "make test       ruff, mypy and the tests"
	@echo "make slow       the tests that take minutes"
	@echo "make bench      measure speed, memory and bytes into benchmarks/results.md (minutes; leave the machine alone)"
	@echo "make strength   measure how strong the strategies are into benchmarks/strength.md (hours)"
	@echo "make sample     play the sample run in data/ anew"
	@echo "make clean      remove .venv and the caches; runs stay"

simulate: .venv/installed
	$(BIN)/sisepai simulate --deals $(DEALS) --out $(RUN) --overwrite
	$(BIN)/sisepai report $(RUN)

test: lint types unit

lint: .venv/installed-test
	$(BIN)/ruff check

types: .venv/installed-test
	$(BIN)/mypy

unit: .venv/installed-test
	$(BIN)/pytest

slow: .venv/installed-test
	$(BIN)/pytest -m slow

bench: .venv/installed-test
	$(BIN)/python benchmarks/run.py --write benchmarks/results.md

strength: .venv/installed-bench
	$(BIN)/python benchmarks/strength.py
	$(BIN)/python benchmarks/strength.py $(STEPS) --rules cardavia
	$(BIN)/python benchmarks/strength.py $(ROLLOUTS:%=search:rollouts=%) --rules cardavia \
		--write benchmarks/strength.md --figure docs/search.svg

# Without its log, which tells of the machine that played it.
sample: .venv/installed
	$(BIN)/sisepai simulate $(SAMPLE) --out data/sample --overwrite --quiet
	rm data/sample/log.jsonl

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks dist

# A stamp is touched last, so that an interrupted installation starts again.
.venv/installed .venv/installed-test .venv/installed-bench: pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; name one: make PYTHON=..." >&2; exit 1; }
	@echo "installing into .venv, once ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.$(EXTRAS)'
	@touch .venv/installed $@

.venv/installed-test: EXTRAS = [test,lint]
.venv/installed-bench: EXTRAS = [bench]

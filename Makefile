# make demo | test | test-slow | test-optuna4 | check | install : each sets up what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# LawPruner's tests in an environment with Optuna 4.9 and none of our heavy dependencies.
OPTUNA4 ?= .venv-optuna4
OPTUNA4_STAMP := $(OPTUNA4)/.installed

.PHONY: install demo test test-slow test-optuna4 check format bench clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "grpo-ops needs Python 3.11 or newer: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(STAMP)

demo: install
	$(BIN)/python -m flows.sweep deployments/sweeps/demo.toml --promote deployments/promotions/demo.toml

test: install
	$(BIN)/python -m pytest -m 'not slow and not gpu and not vllm'

test-slow: install
	$(BIN)/python -m pytest -m 'slow and not gpu and not vllm'

test-optuna4: $(OPTUNA4_STAMP)
	PYTHONPATH=. $(OPTUNA4)/bin/python -m pytest tests/pruning -W error::FutureWarning

$(OPTUNA4_STAMP): constraints.txt
	$(PYTHON) -m venv $(OPTUNA4)
	grep -v '^optuna==' constraints.txt > $(OPTUNA4)/constraints.txt
	$(OPTUNA4)/bin/python -m pip install --quiet --constraint $(OPTUNA4)/constraints.txt 'optuna==4.9.*' numpy scipy \
		pytest pytest-timeout hypothesis
	@touch $(OPTUNA4_STAMP)

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install
	$(BIN)/python -m benchmarks.overhead

clean:
	rm -rf $(VENV) $(OPTUNA4) .grpo-ops

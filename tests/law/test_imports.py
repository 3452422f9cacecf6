import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["grpo_ops.law", "grpo_ops.pruning", "grpo_ops.reading", "grpo_ops.report"])
def test_importing_it_imports_nothing_heavy(module):
    heavy = ["optuna", "torch", "pandas", "mlflow", "prefect", "pydantic", "matplotlib", "pyarrow"]
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"

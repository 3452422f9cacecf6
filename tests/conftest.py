"""What all tests share: quiet tools, and one cache of starter models."""

import os
from pathlib import Path

import pytest

from grpo_ops.home import make_quiet

make_quiet()
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def starter_cache() -> Path:
    """Starter models are kept by the hash of their recipe: they are made once on this machine, not once a test run."""
    path = Path(os.environ.get("GRPO_OPS_CACHE", ROOT / ".grpo-ops" / "cache"))
    path.mkdir(parents=True, exist_ok=True)
    return path

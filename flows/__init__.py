"""Prefect flows: train, sweep, promote, forecast. They orchestrate; every choice is made in grpo_ops.

The environment is set before Prefect is imported: its state lives in the home, and nothing reports to anybody.
"""

import os

from grpo_ops.home import Home, make_quiet

make_quiet()
os.environ.setdefault("PREFECT_HOME", str(Home.here().prefect))

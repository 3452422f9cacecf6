"""Prefect flows: train, sweep, promote, forecast. They orchestrate; every choice is made in grpo_ops.

The environment is set before Prefect is imported: its state lives in the home, and nothing reports to anybody.
"""

import os

from grpo_ops.home import Home, make_quiet

make_quiet()
if "PREFECT_HOME" not in os.environ:
    Home.here().prefect.mkdir(parents=True, exist_ok=True)  # Prefect makes the last folder only
    os.environ["PREFECT_HOME"] = str(Home.here().prefect)
# On a busy machine Prefect's temporary server needs more than the 20 s that it gets by default.
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")

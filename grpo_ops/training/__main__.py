"""`python -m grpo_ops.training RUN_FOLDER`."""

import sys

from grpo_ops.training.main import main

sys.exit(main(sys.argv))

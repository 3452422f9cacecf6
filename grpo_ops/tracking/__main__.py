"""`python -m grpo_ops.tracking RUN_FOLDER`: upload the files of a closed run."""

import sys

from grpo_ops.tracking.upload import main

sys.exit(main(sys.argv[1:]))

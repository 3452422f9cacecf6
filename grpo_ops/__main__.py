"""`python -m grpo_ops` is `grpo-ops`."""

from grpo_ops.cli.main import run

if __name__ == "__main__":
    run()

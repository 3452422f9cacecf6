"""The trainer process: TRL and PEFT. It knows a run folder, nothing else: `python -m grpo_ops.training RUN_FOLDER`."""

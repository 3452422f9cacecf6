"""What a TRL user writes: the same model, data, reward and settings as a spec, in a plain script. Prints its times."""

import json
import sys
import time
from pathlib import Path

STARTED = time.time()


def main(spec_file: str, output: str, *settings: str) -> None:
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    from grpo_ops.specs import RunSpec, load_spec
    from grpo_ops.tasks import load_rewards, load_task, starter_folder

    class Times(TrainerCallback):
        """Notes when each step ended."""

        def __init__(self):
            self.ends = []

        def on_step_end(self, *_, **__):
            self.ends.append(time.time())

    spec = load_spec(RunSpec, Path(spec_file), settings)
    task = load_task(spec.task, spec.evaluation)
    base = starter_folder(spec.model.id)
    own = spec.grpo.model_dump(exclude={"extra", "bf16"}) | spec.grpo.extra
    arguments = GRPOConfig(
        output_dir=output,
        seed=spec.seed,
        logging_steps=1,
        report_to="none",
        save_strategy="steps",
        save_steps=spec.checkpoints.every,
        save_total_limit=2,
        use_cpu=not torch.cuda.is_available(),
        bf16=torch.cuda.is_available(),
        disable_tqdm=True,
        **own,
    )
    times = Times()
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32),
        reward_funcs=load_rewards(spec.rewards, task, allow_import_paths=False),
        args=arguments,
        train_dataset=Dataset.from_list([row.fields() for row in task.train]),
        processing_class=AutoTokenizer.from_pretrained(base),
        callbacks=[times],
        peft_config=LoraConfig(**spec.lora.model_dump()) if spec.lora else None,
    )
    trainer.train()
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    print(json.dumps({"loop": times.ends[-1] - times.ends[0], "total": time.time() - STARTED, "rewards": rewards}))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""FLOPs of whole optimiser steps: the plan against TRL's real trainer under FlopCounterMode, within 5 %."""

import pytest

pytest.importorskip("trl")

import torch
from transformers import LlamaForCausalLM
from trl import GRPOTrainer

from grpo_ops.journal import RunFolder
from grpo_ops.planning import plan_run
from grpo_ops.specs import RunSpec
from grpo_ops.tasks import load_task
from grpo_ops.tasks.vocabulary import task_tokenizer
from grpo_ops.tasks.warmup import model_config
from grpo_ops.training.build import as_dataset, grpo_config
from grpo_ops.training.models import lora_config
from tests.planning.shapes import counted

STEPS, COMPLETION = 4, 16
LORA = {"r": 8, "lora_alpha": 16, "target_modules": "all-linear"}


def spec(lora=None, **grpo):
    settings = {
        "max_steps": STEPS,
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": COMPLETION,
        "gradient_checkpointing": False,
        "extra": {"generation_kwargs": {"min_new_tokens": COMPLETION}},  # every completion is as long as planned
    }
    return RunSpec.checked(
        {
            "name": "counted",
            "model": {"id": "starter:arith-xs"},
            "task": {"source": "starter", "name": "arith", "train_size": 64},
            "evaluation": {"prompts": 8},
            "rewards": [{"name": "length"}],
            "grpo": settings | grpo,
            "lora": lora,
        },
        "test",
    )


def trainer_of(run, folder):
    tokenizer = task_tokenizer("arith")
    config = model_config(0.1, tokenizer)
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    return GRPOTrainer(
        model=LlamaForCausalLM(config),
        reward_funcs=[lambda completions, **_: [float(len(text)) for text in completions]],
        args=grpo_config(run, RunFolder(folder)),
        train_dataset=as_dataset(load_task(run.task, run.evaluation).train),
        processing_class=tokenizer,
        peft_config=lora_config(run.lora),
    )


@pytest.mark.parametrize(
    "run",
    [
        spec(),
        spec(gradient_accumulation_steps=2, num_iterations=2),
        spec(LORA, gradient_checkpointing=True),
        spec(LORA, num_iterations=2, beta=0.1),
    ],
    ids=["all weights", "two iterations, accumulated", "adapter, checkpointing", "adapter, reference"],
)
def test_flops_of_a_step_are_those_of_the_real_trainer(run, tmp_path):
    trainer = trainer_of(run, tmp_path)
    real = counted(trainer.train)
    assert trainer.state.global_step == STEPS
    assert STEPS * plan_run(run, "CPU").flops.total == pytest.approx(real, rel=0.05)

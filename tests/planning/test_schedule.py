"""Steps, prompts and completions: the schedule against TRL's own trainer and sampler."""

import pytest

pytest.importorskip("trl")

from datasets import Dataset
from transformers import LlamaForCausalLM
from trl import GRPOTrainer
from trl.trainer.utils import RepeatSampler

from grpo_ops.errors import PlanError
from grpo_ops.journal import RunFolder
from grpo_ops.planning.schedule import expected_longest, schedule_of
from grpo_ops.specs import RunSpec
from grpo_ops.tasks.vocabulary import task_tokenizer
from grpo_ops.tasks.warmup import model_config
from grpo_ops.training.build import grpo_config

#: settings of grpo: batch, accumulation, steps_per_generation, generation_batch_size, num_generations, num_iterations.
BATCHES = [
    (8, 1, None, None, 8, 1),
    (8, 1, None, None, 8, 2),
    (8, 4, None, None, 8, 1),
    (8, 4, None, None, 4, 4),
    (16, 2, 6, None, 8, 1),
    (4, 3, None, 16, 8, 3),
    (16, 8, None, None, 16, 1),
]
#: Expected for 128 prompts: steps an epoch, completions a step, new ones, prompts a step.
EXPECTED = [
    (128, 8, 8, 1),
    (256, 8, 4, 0.5),
    (32, 32, 32, 4),
    (64, 32, 8, 2),
    (30, 32, 32, 4),
    (256, 12, 4, 0.5),
    (16, 128, 128, 8),
]


def spec(batch, accumulation=1, per_generation=None, at_once=None, group=8, iterations=1, processes=1, **more):
    grpo = {
        "max_steps": 100,
        "per_device_train_batch_size": batch,
        "gradient_accumulation_steps": accumulation,
        "steps_per_generation": per_generation,
        "generation_batch_size": at_once,
        "num_generations": group,
        "num_iterations": iterations,
        "max_completion_length": 8,
        **more,
    }
    return RunSpec.checked(
        {
            "name": "counted",
            "model": {"id": "starter:arith-xs"},
            "task": {"source": "starter", "name": "arith", "train_size": 128},
            "rewards": [{"name": "length"}],
            "grpo": grpo,
            "launch": {"processes": processes},
        },
        "test",
    )


@pytest.fixture(scope="module")
def tokenizer():
    return task_tokenizer("arith")


def trainer_of(run, prompts, tokenizer, folder):
    return GRPOTrainer(
        model=LlamaForCausalLM(model_config(0.1, tokenizer)),
        reward_funcs=[lambda completions, **_: [0.0] * len(completions)],
        args=grpo_config(run, RunFolder(folder)),
        train_dataset=Dataset.from_list([{"prompt": f"{number} + 1"} for number in range(prompts)]),
        processing_class=tokenizer,
    )


@pytest.mark.parametrize(("batch", "expected"), zip(BATCHES, EXPECTED, strict=True))
def test_steps_of_an_epoch_are_the_real_trainers(batch, expected, tokenizer, tmp_path):
    """Rows C9 and C10: a batch counts completions, and num_iterations multiplies steps without new prompts."""
    run = spec(*batch)
    schedule = schedule_of(run, 128)
    found = (schedule.steps_per_epoch, schedule.completions_per_step, schedule.generated_per_step)
    assert (*found, schedule.prompts_per_step) == expected
    trainer = trainer_of(run, 128, tokenizer, tmp_path)
    real = trainer.set_initial_training_values(trainer.args, trainer.get_train_dataloader())
    assert real[1] == schedule.steps_per_epoch
    assert trainer.args.generation_batch_size == schedule.completions_per_generation


@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize("prompts", [128, 100, 33])
def test_steps_on_several_gpus_follow_from_the_sampler(processes, prompts):
    run = spec(8, 2, None, None, 4, 2, processes)
    schedule = schedule_of(run, prompts)
    steps_per_generation = schedule.completions_per_generation // (8 * processes)
    sampler = RepeatSampler(range(prompts), 4, schedule.prompts_per_generation, 2 * steps_per_generation)
    batches = len(sampler) / (8 * steps_per_generation * processes)
    assert schedule.steps_per_epoch == -(-batches // 2)
    assert schedule.completions_per_step == 16 * processes


def test_more_iterations_take_more_steps_for_the_same_prompts_and_completions():
    """Row C10: over one epoch prompts and completions stay the same, the steps do not."""
    once, four = (schedule_of(spec(8, 4, None, None, 8, iterations), 128) for iterations in (1, 4))
    assert four.steps_per_epoch == 4 * once.steps_per_epoch
    for count in ("prompts_per_step", "generated_per_step"):
        of_an_epoch = [getattr(each, count) * each.steps_per_epoch for each in (once, four)]
        assert of_an_epoch[0] == of_an_epoch[1]
    assert (once.epochs, four.epochs) == (100 / 32, 100 / 128)
    assert (once.prompts_seen, four.prompts_seen) == (400, 100)


def test_prompts_that_do_not_fill_a_generation_are_refused():
    with pytest.raises(PlanError, match=r"takes 16 different prompts \(128 completions, 8 each\), but there are 15"):
        schedule_of(spec(16, 8, None, None, 8), 15)


@pytest.mark.parametrize(
    ("settings", "passes"),
    [
        ({}, 0),
        ({"beta": 0.04}, 1),
        ({"num_iterations": 2}, 1),
        ({"num_iterations": 2, "gradient_accumulation_steps": 4}, 1),
        ({"steps_per_generation": 2, "gradient_accumulation_steps": 4}, 0),
        ({"steps_per_generation": 4, "gradient_accumulation_steps": 2, "beta": 0.1}, 2),
        ({"rollouts": {"engine": "vllm-colocate"}}, 1),
        (
            {"rollouts": {"engine": "vllm-server", "vllm_importance_sampling_correction": False}, "beta": 0.1},
            1,
        ),
    ],
)
def test_completions_are_scored_as_trl_does(settings, passes):
    run = spec(8)
    tables = {"rollouts": settings.get("rollouts", {})}
    tables["grpo"] = run.grpo.model_dump() | {name: value for name, value in settings.items() if name != "rollouts"}
    changed = RunSpec.checked({**run.model_dump(), **tables}, "test")
    assert schedule_of(changed, 128).scoring_passes == passes


@pytest.mark.parametrize(
    ("lengths", "draws", "mean"), [([5], 3, 5), ([1, 2, 3], 1, 2), ([2, 1], 2, 1.75), ([10] * 9 + [100], 1000, 100)]
)
def test_the_longest_prompt_of_a_batch(lengths, draws, mean):
    assert expected_longest(lengths, draws) == pytest.approx(mean)

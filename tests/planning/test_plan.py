"""Plans of specs: (settings, options -> numbers, notes, faults), from configs and prompts alone."""

import json
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from grpo_ops.errors import PlanError, SpecError, TaskError
from grpo_ops.planning import GPUS, Efficiency, gpu_named, plan_run
from grpo_ops.planning.savings import (
    SAVED_BY_PAIRED_EVALUATION,
    SAVED_BY_REWARD_ALONE,
    SAVED_BY_REWARD_AT_FOUR,
    savings_of,
)
from grpo_ops.specs import RunSpec, SweepSpec, load_spec
from grpo_ops.tasks.vocabulary import task_tokenizer
from tests.planning.shapes import small

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
RUN, SWEEP = DEPLOYMENTS / "runs/demo.toml", DEPLOYMENTS / "sweeps/demo.toml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model's folder without weights, and prompts of two lengths: 20 characters, and a tenth of them 60."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = task_tokenizer("arith")
    small("qwen3", num_hidden_layers=8).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    rows = [{"prompt": str(10**19 + index) * (3 if index % 10 == 0 else 1), "answer": "1"} for index in range(220)]
    (folder / "prompts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def run(folder, *settings):
    own = (f'model={{id="{folder}"}}', f'task={{source="jsonl", path="{folder}/prompts.jsonl", train_size=200}}')
    return load_spec(RunSpec, RUN, (*own, "evaluation.prompts=20", "rewards=[{name='length'}]", *settings))


def sweep(folder, *settings):
    own = (
        f'run.model={{id="{folder}"}}',
        f'run.task={{source="jsonl", path="{folder}/prompts.jsonl", train_size=200}}',
    )
    return load_spec(SweepSpec, SWEEP, (*own, "run.evaluation.prompts=20", "run.rewards=[{name='length'}]", *settings))


def test_a_starter_model_is_planned_without_being_made(tmp_path, monkeypatch):
    monkeypatch.setenv("GRPO_OPS_HOME", str(tmp_path))
    monkeypatch.delenv("GRPO_OPS_CACHE", raising=False)
    plan = plan_run(load_spec(RunSpec, RUN))
    assert plan.gpu.name == "CPU" and plan.fits and plan.savings is None
    assert (plan.schedule.steps_per_epoch, plan.schedule.completions_per_step) == (128, 128)
    assert plan.hours < 0.1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_needs_no_weights_and_prompts_are_measured(folder):
    plan = plan_run(run(folder), "L4", completion=4)
    assert (plan.model.model_type, plan.model.is_known, plan.dtype) == ("qwen3", True, "float32")
    assert plan.tokens.longest > 2 * plan.tokens.mean * 0.9
    assert plan.tokens.mean < plan.tokens.padded <= plan.tokens.longest
    assert plan.tokens_per_step == 128 * (plan.tokens.padded + 4)


def test_gpus_share_the_steps_and_make_each_larger(folder):
    one, four = plan_run(run(folder), "H100"), plan_run(run(folder), "H100", gpus=4)
    assert four.schedule.completions_per_step == 4 * one.schedule.completions_per_step
    assert four.flops.training == pytest.approx(4 * one.flops.training, rel=0.2)
    assert four.seconds.training == pytest.approx(one.seconds.training, rel=0.2)
    assert four.money == pytest.approx(4 * four.hours * four.gpu.price)
    assert four.memory.weights == one.memory.weights


def test_prices_and_shares_are_taken_as_given(folder):
    plan = plan_run(run(folder), "h100", price=10, efficiency=Efficiency(training=0.7))
    assert plan.money == pytest.approx(10 * plan.hours)
    assert plan.seconds.training == pytest.approx(plan_run(run(folder), "H100").seconds.training / 2)


@pytest.mark.parametrize(
    ("settings", "bound"),
    [((), "kernel launches"), (("rollouts.engine=vllm-colocate",), "memory bandwidth")],
)
def test_what_decoding_waits_for(folder, settings, bound):
    plan = plan_run(run(folder, *settings), "H100")
    assert plan.seconds.decoding_bound == bound


@pytest.mark.parametrize(
    ("settings", "held", "awake", "gpus"),
    [
        (("rollouts.engine=vllm-colocate",), 0.3, 0.0, 1),
        (("rollouts.engine=vllm-colocate", "rollouts.vllm_enable_sleep_mode=true"), 0.0, 0.3, 1),
        (("rollouts.engine=vllm-server",), 0.0, 0.0, 2),
    ],
)
def test_vllm_takes_its_share_or_gpus_of_its_own(folder, settings, held, awake, gpus):
    plan = plan_run(run(folder, *settings), "L4")
    shares = (plan.memory.vllm / plan.gpu.memory, plan.memory.kv_cache / plan.gpu.memory)
    assert shares == pytest.approx((held, awake))
    assert plan.money == pytest.approx(plan.hours * gpus * plan.gpu.price)


def test_on_a_gpu_a_model_that_is_too_large_does_not_fit(folder):
    plan = plan_run(run(folder, "grpo.per_device_train_batch_size=80000", "grpo.num_generations=8000"), "T4")
    assert not plan.fits
    assert plan.notes[0].startswith("the peak is above the memory of one T4")
    assert any("T4 has no bfloat16" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("settings", "share"),
    [
        ((), SAVED_BY_PAIRED_EVALUATION),
        (("space={'grpo.learning_rate'={low=1e-5,high=1e-3}}", "objective=reward"), SAVED_BY_REWARD_AT_FOUR),
        (
            ("space={'grpo.learning_rate'={low=1e-5,high=1e-3}}", "objective=reward", "parallel=1"),
            SAVED_BY_REWARD_ALONE,
        ),
        (("pruner.name=none",), 0.0),
        (("pruner.name=median",), None),
    ],
)
def test_what_the_pruner_is_expected_to_save(settings, share):
    assert savings_of(load_spec(SweepSpec, SWEEP, settings)).share == share


def test_a_sweep_is_its_runs_less_what_is_saved(folder):
    plan = plan_run(sweep(folder))
    document = plan.as_dict()
    assert document["sweep_money_unpruned"] == pytest.approx(10 * plan.money)
    assert document["sweep_trial_hours_expected"] == pytest.approx(10 * plan.hours * (1 - SAVED_BY_PAIRED_EVALUATION))
    assert any("varies grpo.num_generations, lora.r" in note for note in plan.notes)


def test_a_budgets_price_is_a_slots(folder):
    spec = sweep(folder, "budget={price_per_hour=8}", "run.launch.processes=2")
    assert plan_run(spec).gpu.price == 4
    assert plan_run(spec, price=1).gpu.price == 1


@pytest.mark.parametrize(
    ("settings", "options", "kind", "sentence"),
    [
        (("model.id=./nowhere", "task.source=reasoning_gym"), {}, PlanError, "'./nowhere' cannot be had from"),
        (("model.id=starter:nope-s",), {}, PlanError, "model.id: there is no starter task 'nope'"),
        (("task.name=nope",), {}, TaskError, "there is no starter task 'nope'"),
        (("task.train_size=8",), {}, PlanError, "one generation takes 16 different prompts"),
        ((), {"gpu": "H1000"}, PlanError, "known: A100-40, A100-80, H100"),
        ((), {"price": -1}, PlanError, "--price is a price an hour, 0 or more, but got -1"),
        ((), {"completion": 9}, PlanError, "1 to grpo.max_completion_length = 8, but got 9"),
        ((), {"gpus": 0}, SpecError, "launch.processes"),
        (("grpo.generation_batch_size=128",), {"gpus": 3}, SpecError, "generation_batch_size"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(settings, options, kind, sentence):
    with pytest.raises(kind) as error:
        plan_run(load_spec(RunSpec, RUN, settings), **options)
    assert sentence in str(error.value)


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
def test_the_table_of_gpus_is_plausible(gpu):
    """FLOP/s for each byte of bandwidth lie between 5 and 600; nothing is a unit off."""
    assert gpu_named(gpu.name.lower()) == gpu
    assert 5 <= gpu.flops / gpu.bandwidth <= 600
    assert gpu.flops_float32 <= gpu.flops
    assert 10 * 1024**3 < gpu.memory < 200 * 1024**3

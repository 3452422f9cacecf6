"""`grpo-ops plan`: (arguments -> table, JSON, exit code), through the real command."""

import json
from pathlib import Path

import pytest

pytest.importorskip("transformers")

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
RUN, SWEEP, PROMOTION = (DEPLOYMENTS / kind / "demo.toml" for kind in ("runs", "sweeps", "promotions"))


def test_text_has_every_part(call):
    done = call("plan", SWEEP, "--gpu", "h100")
    assert (done.exit_code, done.stderr) == (0, "")
    parts = ["starter:arith-s@0.3 (llama) on 1 x H100", "parameters", "trainable", "optimizer", "activations"]
    parts += ["KV cache", "peak memory", "completions a step", "FLOPs a step", "steps", "0.938 epochs of 128 steps"]
    parts += ["hours", "price", "pruner saves", "sweep, expected", "note: "]
    places = [done.stdout.index(part) for part in parts]
    assert places == sorted(places)
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())


def test_json_is_flat_and_names_its_units(call):
    """Row C9: steps, epochs, prompts and completions are all there."""
    done = call("plan", RUN, "--json", "--set", "grpo.num_iterations=2", "--gpus", "2", "--price", "3")
    plan = json.loads(done.stdout)
    assert not any(isinstance(value, dict) for value in plan.values())
    assert (plan["gpus"], plan["price_per_gpu_hour"]) == (2, 3)
    counted = ("completions_per_step", "generated_per_step", "prompts_per_step", "steps_per_epoch")
    assert [plan[name] for name in counted] == [256, 128, 16, 128]
    assert plan["epochs"] == 120 / 128
    assert plan["money"] == pytest.approx(plan["gpu_hours"] * 3)
    assert plan["flops_per_step"] == sum(plan[f"{p}_flops_per_step"] for p in ("generation", "scoring", "training"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([RUN, "--gpu", "nonsense"], "--gpu 'nonsense' is not in the table; known: A100-40"),
        ([RUN, "--training-share", "35"], "--training-share is a share of the peak, above 0 and at most 1, but got 35"),
        ([RUN, "--set", "model.id=starter:nope-s"], "there is no starter task 'nope'"),
        ([PROMOTION], "this is a PromotionSpec; a plan is made of a run or a sweep"),
    ],
)
def test_faults_are_one_sentence(call, arguments, sentence):
    done = call("plan", *arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr

"""Two real ranks through the supervisor: row A7."""

from mlflow import MlflowClient

from grpo_ops.ending import Ending
from grpo_ops.specs import RunSpec
from grpo_ops.sweep import train
from tests.sweep.helpers import metric_steps

SPEC = {
    "name": "two-ranks",
    "model": {"id": "starter:arith-xs@0.3"},
    "task": {"source": "starter", "name": "arith", "train_size": 64},
    "rewards": [{"name": "reasoning_gym"}],
    "grpo": {
        "max_steps": 4,
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 5,
        "gradient_checkpointing": False,
    },
    "lora": {"r": 4, "target_modules": "all-linear"},
    "evaluation": {"every": 2, "prompts": 16},
    "launch": {"processes": 2},
}


def test_two_ranks_are_one_run_with_one_curve(home, starter_cache, monkeypatch):
    monkeypatch.setenv("GRPO_OPS_CACHE", str(starter_cache))
    report = train(RunSpec.checked(SPEC, "test"), home)
    assert report.result.ending is Ending.FINISHED, report.result.reason
    client = MlflowClient(home.tracking_uri)
    (run,) = client.search_runs([client.get_experiment_by_name("grpo-ops").experiment_id])
    assert run.info.status == "FINISHED"
    assert metric_steps(home, run, "reward") == [1, 2, 3, 4]
    assert metric_steps(home, run, "eval_reward") == [0, 2, 4]

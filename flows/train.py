"""grpo-train: one GRPO run as a Prefect flow run."""

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed

from flows.guard import FROM_LOCAL_FILE, refuse_faults, tag_this_flow_run
from grpo_ops.home import Home
from grpo_ops.report.run_picture import draw_run
from grpo_ops.specs import RunSpec
from grpo_ops.sweep import TrainReport, run_key, train


@flow(name="grpo-train", log_prints=True)
def grpo_train(spec: RunSpec) -> State[dict[str, Any]]:
    """Run one GRPO training, or continue the one of the same spec; its ending becomes the state."""
    refuse_faults(spec)
    tag_this_flow_run(run_key(spec, Home.here()))
    return state_of(train(spec, draw=draw_run, allow_import_paths=FROM_LOCAL_FILE.get()))


def state_of(report: TrainReport) -> State[dict[str, Any]]:
    """The Prefect state that follows from a run's ending; its data is small: names and numbers."""
    row, ending = report.row, report.result.ending
    message = f"{ending.value} at step {row.step} of {row.max_steps}: {row.reason}"
    if ending.value == "failed":
        return Failed(message=message)
    if ending.value == "cancelled":
        return Cancelled(message=message)
    data = {
        "run_key": row.key,
        "ending": ending.value,
        "eval_reward": row.evaluation,
        "mlflow_run_id": row.mlflow_run_id,
    }
    return Completed(name="Pruned" if ending.is_pruned else "Completed", message=message, data=data)

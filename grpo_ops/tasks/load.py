"""load_task: training and held-out prompts, seeded, unique, disjoint by their text."""

from grpo_ops.specs import EvaluationSpec, TaskSpec
from grpo_ops.tasks.divide import Wanted, load_data
from grpo_ops.tasks.lengths import Room
from grpo_ops.tasks.mixture import load_mixture
from grpo_ops.tasks.order import in_curriculum
from grpo_ops.tasks.types import Task


def load_task(spec: TaskSpec, evaluation: EvaluationSpec, room: Room | None = None) -> Task:
    """The prompts that `spec` names, divided by its seed: the same spec gives the same two sets everywhere.

    room: prompts that it does not hold are left out of both sets, as if they were not in the data.
    Raises TaskError where data are missing, too few, or where a file of evaluation prompts overlaps the training file.
    """
    if spec.source == "mixture":
        task = load_mixture(spec, evaluation.prompts, room)
    else:
        wanted = Wanted(spec.train_size, evaluation.prompts, spec.seed, spec.order == "as_given")
        task = load_data(spec, wanted, room)
    return task if spec.curriculum_column is None else in_curriculum(task, spec.curriculum_column)

"""Where a spec names code to run: what a caller of the API may not do, and what a person should know."""

from collections.abc import Iterator
from typing import Any

from grpo_ops.specs import RunSpec, SweepSpec
from grpo_ops.specs.paths import split_path

_REFUSED = "is code that the caller chooses; use `grpo-ops` on a local file"
#: reasoning-gym's datasets whose scorer passes the model's answer to Python's eval() (a test reads its source).
EVALUATED = frozenset({"binary_matrix", "n_queens", "spiral_matrix", "string_insertion"})


def code_named_by(spec: RunSpec | SweepSpec) -> list[str]:
    """A fault for all that makes a trainer run code named by the spec; [] for a spec that anybody may send.

    That is a reward as `package.module:function` and a model's own code, in the run, the space or the enqueued points.
    """
    if isinstance(spec, RunSpec):
        return list(_in_run(spec, ""))
    found = [*_in_run(spec.run, "run.")]
    for where, path, value in _values(spec):
        found += [f"{where}: {what} {_REFUSED}" for what in _in_value(split_path(path), value)]
    return list(dict.fromkeys(found))


def warnings(spec: RunSpec | SweepSpec) -> list[str]:
    """What a person should know before a run, though it is no fault: one sentence each."""
    run = spec.run if isinstance(spec, SweepSpec) else spec
    names = [one.name for one in run.task.parts or (run.task,) if one.source == "reasoning_gym"]
    if isinstance(spec, SweepSpec) and run.task.source == "reasoning_gym":
        names += [value for _, path, value in _values(spec) if path == "task.name"]
    return [
        f"task.name: reasoning-gym's scorer of {name!r} passes the model's answers to Python's eval(): "
        "train on it in a container, or choose another dataset"
        for name in dict.fromkeys(names)
        if name in EVALUATED
    ]


def _in_run(run: RunSpec, where: str) -> Iterator[str]:
    if run.model.trust_remote_code:
        yield f"{where}model.trust_remote_code: the model's own code {_REFUSED}"
    for index, reward in enumerate(run.rewards):
        if reward.is_import_path:
            yield f"{where}rewards.{index}.name: the reward {reward.name!r} {_REFUSED}"


def _values(spec: SweepSpec) -> Iterator[tuple[str, str, Any]]:
    """All values of the space and of the enqueued points: where each stands, its path in the run, itself."""
    for path in spec.space:
        yield from ((f"space.{path}", path, value) for value in spec.values(path))
    for index, point in enumerate(spec.enqueue):
        yield from ((f"enqueue.{index}.{path}", path, value) for path, value in point.items())


def _in_value(parts: list[str], value: Any) -> Iterator[str]:
    """Nested tables are followed: a value may be a whole model or a list of rewards."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _in_value([*parts, str(key)], inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _in_value(parts, inner)
    elif parts[0] == "rewards" and isinstance(value, str) and ":" in value:
        yield f"the reward {value!r}"
    elif parts == ["model", "trust_remote_code"] and value not in (False, None):
        yield "the model's own code"

"""Runs inside the rivals' environment, by path: `generate OUT` writes their scenarios, `judge RUNS OUT` their verdicts.

It knows nothing of grpo_ops. A run is {id, family, truth, steps, columns, config}, columns by TRL's names where TRL
has one. Each tool judges its own scenarios in its own format and all other runs converted into it.
"""

import itertools
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rl_doctor
from rl_doctor import simulate
from rl_doctor.ingest.base import run_from_records
from rlprobe.doctor.engine import diagnose_view
from rlprobe.doctor.runview import RunView
from rlprobe.schemas import RunManifest, StepRecord
from rlprobe.storage import RunReader
from rlprobe.testing import synth

SEEDS = (100, 101, 102)
SHORTER = (100, 200)
Run = dict[str, Any]

TO_TRL = {
    "reward_mean": "reward",
    "reward_std": "reward_std",
    "zero_variance_group_frac": "frac_reward_zero_std",
    "entropy_mean": "entropy",
    "kl_mean": "kl",
    "clip_fraction": "clip_ratio/region_mean",
    "grad_norm": "grad_norm",
    "loss": "loss",
    "lr": "learning_rate",
    "completion_len_mean": "completions/mean_length",
    "truncation_rate": "completions/clipped_ratio",
    "adv_std": "critic/advantages/std",
    "value_explained_variance": "critic/vf_explained_var",
    "step_time_s": "perf/time_per_step",
    "nan_count": "nan_count",
    "inf_count": "inf_count",
    "repetition_rate": "repetition_rate",
}
FROM_TRL = {trl: own for own, trl in TO_TRL.items()} | {
    "completion_length": "completion_len_mean",
    "step_time": "step_time_s",
}


def generate(out: Path) -> None:
    out.write_text(json.dumps([*_rldoctor_runs(), *_rlprobe_runs()]))


def judge(runs: Path, out: Path) -> None:
    verdicts = {}
    for run in json.loads(runs.read_text()):
        verdicts[run["id"]] = {"rldoctor": _rldoctor(run), "rlprobe": _rlprobe(run)}
    out.write_text(json.dumps(verdicts))


def _rldoctor_runs() -> Iterator[Run]:
    for scenario, steps, seed in itertools.product(simulate.SCENARIOS, (*SHORTER, 400), SEEDS):
        records, config = simulate.simulate(scenario, n_steps=steps, seed=seed)
        yield _run("rldoctor", scenario, seed, records, config)


def _rlprobe_runs() -> Iterator[Run]:
    for name, steps, seed in itertools.product(["healthy", *synth.PATHOLOGIES], (*SHORTER, 500), SEEDS):
        with _synthetic(name, steps, seed) as reader:
            records = [_as_trl(step) for step in reader.steps()]
            yield _run("rlprobe", name, seed, records, {"algorithm": reader.manifest.algorithm, "num_generations": 8})


@contextmanager
def _synthetic(name: str, steps: int, seed: int) -> Iterator[RunReader]:
    """A run as rlprobe records it, in a folder that lives as long as the block."""
    with tempfile.TemporaryDirectory() as folder:
        yield RunReader(synth.generate_run(folder, None if name == "healthy" else name, n_steps=steps, seed=seed))


def _run(family: str, truth: str, seed: int, records: list[Run], config: Run) -> Run:
    columns = _columns(records)
    steps = [int(step) for step in columns.pop("step")]
    key = f"{family}/{truth}/{len(steps)}/{seed}"
    return {"id": key, "family": family, "truth": truth, "steps": steps, "columns": columns, "config": config}


def _columns(records: list[Run]) -> dict[str, list[float | None]]:
    names = {name for record in records for name in record}
    return {name: [record.get(name) for record in records] for name in sorted(names)}


def _as_trl(step: StepRecord) -> Run:
    fields = step.model_dump()
    record = {trl: fields[own] for own, trl in TO_TRL.items() if fields[own] is not None}
    parts = {f"rewards/{name}/mean": value for name, value in step.reward_components.items()}
    positions = {f"kl_positional/{index}": value for index, value in enumerate(step.kl_positional or [])}
    return {"step": step.step, **record, **parts, **positions}


def _records(run: Run) -> list[Run]:
    rows = []
    for index, step in enumerate(run["steps"]):
        values = {name: column[index] for name, column in run["columns"].items()}
        rows.append({"step": step, **{name: value for name, value in values.items() if value is not None}})
    return rows


def _rldoctor(run: Run) -> list[list[str]]:
    """[name, severity] of every finding of INFO and above; the two kinds of lost signal by its own regime."""
    diagnosis = rl_doctor.diagnose(run_from_records(_records(run), config=run["config"]))
    return [[_with_regime(finding), finding.severity.name.lower()] for finding in diagnosis.problems]


def _with_regime(finding: Any) -> str:
    regime = finding.metrics.get("regime")
    return f"{finding.detector}: {regime}" if regime else finding.detector


def _rlprobe(run: Run) -> list[list[str]]:
    """[signature, severity]; `warn` is spelt `warning` as the others do."""
    if run["family"] == "rlprobe":
        with _synthetic(run["truth"], len(run["steps"]), int(run["id"].rsplit("/", 1)[1])) as reader:
            return _named(RunView(reader.manifest, reader.steps(), samples_provider=reader.samples))
    manifest = RunManifest(run_id="run", created_at="2026-01-01T00:00:00+00:00", algorithm="grpo")
    return _named(RunView(manifest, [_as_step(record) for record in _records(run)]))


def _named(view: RunView) -> list[list[str]]:
    found = {finding.signature_id: finding.severity for finding in diagnose_view(view)}
    return [[name, "warning" if severity == "warn" else severity] for name, severity in found.items()]


def _as_step(record: Run) -> StepRecord:
    fields: Run = {FROM_TRL[name]: value for name, value in record.items() if name in FROM_TRL and math.isfinite(value)}
    for count in ("nan_count", "inf_count"):
        if count in fields:
            fields[count] = int(fields[count])
    parts = {
        name.split("/")[1]: v for name, v in record.items() if name.startswith("rewards/") and name.endswith("/mean")
    }
    buckets = sorted((name for name in record if name.startswith("kl_positional/")), key=lambda n: int(n.split("/")[1]))
    positions = [record[name] for name in buckets]
    return StepRecord(step=record["step"], reward_components=parts, kl_positional=positions or None, **fields)


if __name__ == "__main__":
    if sys.argv[1] == "generate":
        generate(Path(sys.argv[2]))
    else:
        judge(Path(sys.argv[2]), Path(sys.argv[3]))

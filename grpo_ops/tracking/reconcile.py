"""Bring MLflow up to what the run folders say: for runs whose server was away, and whose supervisor was killed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlflow import MlflowClient
from mlflow.entities import Run

from grpo_ops.errors import GrpoOpsError, TrackingError
from grpo_ops.home import Home
from grpo_ops.journal import Entry, RunFolder
from grpo_ops.specs import RunSpec
from grpo_ops.tracking.closing import Closing
from grpo_ops.tracking.connection import Outage, connect, speaking
from grpo_ops.tracking.leftovers import ending_of, is_live
from grpo_ops.tracking.metrics import Ledger
from grpo_ops.tracking.names import ENDING, KIND, NOTE, STUDY, SUPERVISOR, UPLOAD
from grpo_ops.tracking.plan import RunPlan, plan_run
from grpo_ops.tracking.runs import find_run, search_all
from grpo_ops.tracking.sending import progress, send_tags
from grpo_ops.tracking.study import is_supervisor_gone
from grpo_ops.tracking.tracker import Tracker
from grpo_ops.tracking.upload import upload_files, write_job


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done (in a dry run: would be done) for a run or a study. trouble: what went wrong with it, else None."""

    key: str
    actions: tuple[str, ...]
    trouble: str | None = None

    def __str__(self) -> str:
        return f"{self.key}: {', '.join(self.actions)}" + (f" (failed: {self.trouble})" if self.trouble else "")


def reconcile(home: Home, *, dry_run: bool = False) -> list[Repair]:
    """Replay the journals in the home into MLflow and close the runs that are over; live runs are left alone.

    Safe at any time, and twice: what is right already is not touched. Trouble with one run does not keep the others
    from repair. Returns only what needed something. Raises TrackingError where MLflow cannot be reached.
    """
    try:
        client = connect(home.tracking_uri)
        folders = [RunFolder(path) for path in sorted(home.runs.glob("*")) if path.is_dir()]
        repairs = [_repair(home, folder, dry_run) for folder in folders]
        repairs += list(_repair_studies(client, dry_run))
    except Outage as outage:
        raise TrackingError(f"MLflow cannot be reached: {outage}") from outage
    return [repair for repair in repairs if repair.actions or repair.trouble]


def _repair(home: Home, folder: RunFolder, dry_run: bool) -> Repair:
    actions: tuple[str, ...] = ()
    try:
        plan = RunPlan.load(folder) or _plan_from_spec(home, folder)
        if plan is None or is_live(folder):
            return Repair(folder.key, ())
        state = _look(plan, folder)
        actions = tuple(_needed(state))
        trouble = _bring_home(plan, folder, state) if actions and not dry_run else None
    except (Outage, GrpoOpsError) as error:
        trouble = str(error)
    return Repair(folder.key, actions, trouble)


def _plan_from_spec(home: Home, folder: RunFolder) -> RunPlan | None:
    """For a run whose supervisor died before it was tracked."""
    document = folder.read_json(folder.spec) or {}
    if "spec" not in document:
        return None
    return plan_run(home, RunSpec.checked(document["spec"], str(folder.spec)), folder.key)


@dataclass(frozen=True, slots=True)
class _State:
    """A run as MLflow has it, and what its folder says. missing: lines of the journal that MLflow lacks."""

    run: Run | None
    missing: int
    closing: Closing
    is_waiting: bool

    @property
    def is_open(self) -> bool:
        return self.run is None or self.is_waiting or self.run.info.status == "RUNNING"


def _look(plan: RunPlan, folder: RunFolder) -> _State:
    client = connect(plan.tracking_uri)
    entries = folder.entries()
    with speaking(f"look up run {plan.run_key}"):
        experiment = client.get_experiment_by_name(plan.experiment)
        run = None if experiment is None else find_run(client, [experiment.experiment_id], plan.run_key)
    waiting = Closing.load(folder)
    closing = waiting or ending_of(folder, entries, plan.max_steps)
    return _State(run, _missing(client, run, entries), closing, waiting is not None)


def _missing(client: MlflowClient, run: Run | None, entries: Sequence[Entry]) -> int:
    """Only lines with the metric that `progress` reads can be told to be missing."""
    ledger = Ledger(logged={} if run is None else progress(client, run.info.run_id))
    steps = [entry for entry in entries if entry["kind"] == "step" and "reward" in entry["metrics"]]
    scored = [entry for entry in entries if entry["kind"] == "evaluation" and entry.get("ask") is None]
    return sum(1 for entry in (*steps, *scored) if not ledger.is_logged(entry))


def _needed(state: _State) -> Iterator[str]:
    if state.run is None:
        yield "make the run"
    if state.missing:
        yield f"replay {state.missing} journal lines"
    if state.is_open:
        yield f"close it as {state.closing.ending}"
    if state.run is None or state.run.data.tags.get(UPLOAD) != "complete":
        yield "upload its files"


def _bring_home(plan: RunPlan, folder: RunFolder, state: _State) -> str | None:
    """Do what is needed; returns what failed, or None."""
    tracker = Tracker(plan, folder)
    if state.is_open or state.missing:
        if not tracker.finish(state.closing):
            return tracker.trouble
        write_job(plan, folder, state.closing, str(tracker.run_id))
    elif state.run is not None and not (folder.path / "upload.json").exists():
        write_job(plan, folder, state.closing, state.run.info.run_id)
    return "; ".join(upload_files(folder)) or None


def _repair_studies(client: MlflowClient, dry_run: bool) -> Iterator[Repair]:
    """Close the parents of sweeps whose process on this machine is gone; started again, a sweep goes on in them."""
    with speaking("read the studies"):
        experiments = [experiment.experiment_id for experiment in client.search_experiments()]
        query = f"attributes.status = 'RUNNING' and tags.`{KIND}` = 'study'"
        parents = list(search_all(client, experiments, query))
    for parent in parents:
        if is_supervisor_gone(parent.data.tags.get(SUPERVISOR, "")):
            if not dry_run:
                _close_study(client, parent)
            yield Repair(parent.data.tags[STUDY], ("close the study as cancelled",))


def _close_study(client: MlflowClient, parent: Run) -> None:
    note = "**cancelled**: its process is gone. Started again under this name, the sweep goes on here."
    send_tags(client, parent.info.run_id, {ENDING: "cancelled", NOTE: note})
    with speaking(f"close study {parent.info.run_name}"):
        client.set_terminated(parent.info.run_id, "KILLED")

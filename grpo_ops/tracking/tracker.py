"""One GRPO run's life in MLflow. An outage never stops or blocks it: the journal is replayed when MLflow is back."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from mlflow import MlflowClient

from grpo_ops.errors import TrackingError
from grpo_ops.home import Home
from grpo_ops.journal import Entry, RunFolder
from grpo_ops.specs import RunSpec
from grpo_ops.tracking.closing import Closing, close_run
from grpo_ops.tracking.connection import Backoff, Outage, connect
from grpo_ops.tracking.metrics import Ledger, law_line, next_batch
from grpo_ops.tracking.names import TAG
from grpo_ops.tracking.plan import RunPlan, plan_run
from grpo_ops.tracking.runs import attach_run
from grpo_ops.tracking.sending import progress, send, send_tags
from grpo_ops.tracking.upload import Upload, start_upload

#: A call from the loop stops sending after this long; the rest goes with the next one.
LOOP_SECONDS = 1.0
CLOSE_SECONDS = 60.0
_log = logging.getLogger(__name__)
Result = TypeVar("Result")


def open_run(
    home: Home,
    spec: RunSpec,
    run_key: str,
    *,
    study: str | None = None,
    name: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> "Tracker":
    """The tracker of the run with this key: its MLflow run is made, or continued where there is one.

    study: the study it is a trial of (see `open_study`). name: shown in MLflow, the key by default. tags: more tags,
    full names. While MLflow cannot be reached the tracker is behind (`trouble` says why) and catches up later.
    Raises TrackingError where MLflow refuses (a deleted experiment, no permission).
    """
    plan = plan_run(home, spec, run_key, name, study).with_tags(tags or {})
    tracker = Tracker(plan, RunFolder(home.runs / run_key))
    plan.save(tracker.folder)
    tracker.open()
    return tracker


class Tracker:
    """Writes what a run's journal says to its MLflow run. Nothing but `open` raises; `trouble` says what went wrong."""

    def __init__(self, plan: RunPlan, folder: RunFolder) -> None:
        self.plan = plan
        self.folder = folder
        self.run_id: str | None = None
        self.trouble: str | None = None
        self._client: MlflowClient | None = None
        self._backoff = Backoff()
        self._refused = False
        self._queue: list[Entry] = []
        self._ledger = Ledger()

    @property
    def is_behind(self) -> bool:
        """Whether MLflow lacks something that the journal has."""
        return self._client is None or bool(self._queue)

    def open(self) -> None:
        """Reach MLflow now, or be behind. Raises TrackingError where MLflow refuses."""
        if (stale := Closing.load(self.folder)) is not None:  # an attempt whose end MLflow never heard of: it goes on
            self._queue = list(stale.law_lines)
            stale.forget(self.folder)
        try:
            self._attach()
        except Outage as outage:
            self._lose(outage)

    def log(self, entries: Iterable[Entry]) -> None:
        """Write new journal lines. They must be in the journal already: what is not sent now is read from there."""
        if self._client is not None:
            self._queue.extend(entries)
        self._advance(LOOP_SECONDS)

    def log_law(self, step: int, values: Mapping[str, float], time: float) -> None:
        """Write law metrics (`law/forecast`, ...) at `step` with the next lines; `time` in seconds since the epoch."""
        self._queue.append(law_line(step, values, time))

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Set further tags (full names), now or when MLflow is back."""
        self.plan = self.plan.with_tags(tags)
        self.plan.save(self.folder)
        client, run_id = self._client, self.run_id
        if client is not None and run_id is not None:
            self._guarded(lambda: send_tags(client, run_id, tags))

    def close(
        self,
        ending: str,
        reason: str,
        *,
        law: Mapping[str, Any] | None = None,
        forecast: Mapping[str, Any] | None = None,
        figure: Path | None = None,
        metrics: Mapping[str, float] | None = None,
        note: str = "",
        upload: bool = True,
    ) -> Upload | None:
        """Say how the run ended: status, tags, final metrics, description; then start the upload of its files.

        ending: finished, plateau, hopeless, diverged, cancelled or failed. reason: one sentence. law: LawFit as
        JSON. forecast: the Forecast in force at the end, as JSON. figure: its picture (PNG). note: markdown that is
        added to the description. The upload (checkpoint, figure, journal) is a child process: wait for it before
        promoting. None where nothing is uploaded: upload is False, or MLflow is away, and `tracking.pending` in the
        run folder waits for `reconcile`.
        """
        picture = None if figure is None else str(figure.absolute())
        document = {**(law or {}), **({"forecast": forecast} if forecast else {})}
        closing = Closing(ending, reason, time.time(), document, picture, metrics or {}, note, self._law_lines)
        self._on_disk("the ending", lambda: closing.save(self.folder))
        if not self.finish(closing):
            _log.warning("run %s is not closed in MLflow (%s); reconcile it later", self.plan.run_key, self.trouble)
            return None
        if not upload:
            return None
        return self._on_disk("the upload", lambda: start_upload(self.plan, self.folder, closing, str(self.run_id)))

    def finish(self, closing: Closing) -> bool:
        """Bring MLflow up to the journal's end and close the run there; False where that must wait."""
        law_lines = self._law_lines if self._client else closing.law_lines
        self._queue = [*self.folder.entries(), *law_lines]  # what was sent is known and skipped
        self._backoff.succeeded()
        self._advance(CLOSE_SECONDS)
        client, run_id = self._client, self.run_id
        if client is None or run_id is None or self.is_behind:
            return False
        if not self._guarded(lambda: close_run(client, run_id, self.plan, self.folder, closing)):
            return False
        closing.forget(self.folder)
        return True

    def _on_disk(self, what: str, action: Callable[[], Result]) -> Result | None:
        """Do what needs room in the run folder; on a full disk say so, and MLflow hears of the ending all the same."""
        try:
            return action()
        except OSError as error:
            _log.error("%s of run %s cannot be kept in %s: %s", what, self.plan.run_key, self.folder.path, error)
            return None

    @property
    def _law_lines(self) -> list[Entry]:
        """Law metrics that are not in MLflow yet: no journal has them."""
        return [entry for entry in self._queue if entry["kind"] == "law"]

    def _advance(self, seconds: float) -> None:
        if not self._refused and self._backoff.is_due:
            self._guarded(lambda: self._catch_up(seconds))

    def _catch_up(self, seconds: float) -> None:
        if self._client is None:
            self._attach()
        self._send(time.monotonic() + seconds)

    def _attach(self) -> None:
        """Connect, and learn from MLflow what it has: what we sent last may or may not have arrived."""
        client = connect(self.plan.tracking_uri)
        entries = self.folder.entries()
        started = entries[0]["time"] if entries else None
        self.run_id = attach_run(client, self.plan, start_time=started).info.run_id
        self._ledger = Ledger(logged=progress(client, self.run_id))
        self._queue = [*entries, *self._law_lines]
        self._client = client
        self._backoff.succeeded()
        self.trouble = None

    def _send(self, deadline: float) -> None:
        assert self._client is not None and self.run_id is not None
        while self._queue and time.monotonic() < deadline:
            batch = next_batch(self._queue, self._ledger)
            send(self._client, self.run_id, self.plan.spec, batch)
            self._ledger = batch.ledger
            self._queue = list(batch.rest)

    def _guarded(self, action: Callable[[], None]) -> bool:
        """Run `action`; False where MLflow was away or refused."""
        try:
            action()
        except Outage as outage:
            self._lose(outage)
            return False
        except TrackingError as error:
            self._refuse(error)
            return False
        return True

    def _lose(self, outage: Outage) -> None:
        if self.trouble is None:
            _log.warning("MLflow is away (%s); run %s goes on and is caught up later", outage, self.plan.run_key)
        self.trouble = str(outage)
        self._client = None
        self._queue = self._law_lines
        self._backoff.failed()

    def _refuse(self, error: TrackingError) -> None:
        """Somebody deleted the run, or the like: training goes on, MLflow is left alone."""
        _log.error("run %s is no longer tracked: %s", self.plan.run_key, error)
        self.trouble = str(error)
        if self._client is not None and self.run_id is not None:
            with contextlib.suppress(Outage, TrackingError):
                send_tags(self._client, self.run_id, {TAG + "trouble": self.trouble})
        self._client, self._queue, self._refused = None, [], True

"""A run's files to MLflow, by a child process: `python -m grpo_ops.tracking RUN_FOLDER`.

Checkpoints and pictures may take minutes, so they never go through the loop. The child reads `upload.json` in the run
folder, uploads what is not there yet, and tags the run: `grpo_ops.upload` is `complete`, or says what failed. Training
is never failed by it. Started twice, or after a kill, it completes what is missing.
"""

import fcntl
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mlflow import MlflowClient

from grpo_ops.errors import TrackingError
from grpo_ops.home import quiet
from grpo_ops.journal import RunFolder, write_atomically
from grpo_ops.tracking.closing import Closing
from grpo_ops.tracking.connection import PATIENCE, Outage, connect, first_line, speaking
from grpo_ops.tracking.models import best_checkpoint, log_checkpoint
from grpo_ops.tracking.names import UPLOAD, cut
from grpo_ops.tracking.plan import RunPlan
from grpo_ops.tracking.sending import send_tags

JOB_FILE = "upload.json"
_LOG_TAIL_BYTES = 200_000


@dataclass(frozen=True)
class Upload:
    """A started upload."""

    run_key: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def is_done(self) -> bool:
        return self.process.poll() is not None

    def wait(self, timeout: float | None = None) -> str | None:
        """Wait for the end, at most `timeout` seconds; None where all is uploaded, else what failed."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return f"the upload of {self.run_key} still runs after {timeout:g} s"
        return None if code == 0 else self.log.read_text(errors="replace").strip().rsplit("\n", 1)[-1]


def start_upload(plan: RunPlan, folder: RunFolder, closing: Closing, run_id: str) -> Upload:
    """Start the child that uploads the files of a closed run."""
    write_job(plan, folder, closing, run_id)
    log = folder.path / "upload.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "grpo_ops.tracking", str(folder.path)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=quiet() | PATIENCE,
        )
    return Upload(plan.run_key, process, log)


def write_job(plan: RunPlan, folder: RunFolder, closing: Closing, run_id: str) -> None:
    job = {"run_id": run_id, "plan": asdict(plan), "law": closing.law, "figure": closing.figure}
    write_atomically(folder.path / JOB_FILE, json.dumps(job, indent=1))


def upload_files(folder: RunFolder) -> list[str]:
    """Upload what `upload.json` names, tag the run, and return what failed, each as a sentence."""
    job = folder.read_json(folder.path / JOB_FILE)
    if job is None:
        raise TrackingError(f"there is no {JOB_FILE} in {folder.path}")
    plan = RunPlan(**job["plan"])
    with (folder.path / "upload.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two at once would each take the other's half-made model for a leftover
        try:
            return _upload(connect(plan.tracking_uri), job, plan, folder)
        except (Outage, TrackingError) as error:
            return [str(error)]


def main(arguments: list[str]) -> int:
    """Exit code 0 where all is uploaded; 1, with the failures as the last line, where not."""
    failures = upload_files(RunFolder(Path(arguments[0])))
    if failures:
        print("; ".join(failures), file=sys.stderr)
    return 1 if failures else 0


def _upload(client: MlflowClient, job: dict[str, Any], plan: RunPlan, folder: RunFolder) -> list[str]:
    failures = [failure for name, part in _parts(client, job, plan, folder) if (failure := _attempt(name, part))]
    outcome = "failed: " + "; ".join(failures) if failures else "complete"
    send_tags(client, job["run_id"], {UPLOAD: cut(outcome, 2000)})
    return failures


def _parts(
    client: MlflowClient, job: dict[str, Any], plan: RunPlan, folder: RunFolder
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What there is to upload, each with a name for its failure; small and telling things first."""
    run_id = job["run_id"]
    yield "spec.json", lambda: _text(client, run_id, json.dumps(plan.spec, indent=1), "spec.json")
    if job["law"]:
        yield "law.json", lambda: _text(client, run_id, json.dumps(job["law"], indent=1), "law.json")
    if job["figure"]:
        yield "figures/forecast.png", lambda: _picture(client, run_id, Path(job["figure"]))
    if folder.journal.exists():
        yield "journal.jsonl", lambda: _file(client, run_id, folder.journal)
    if folder.log.exists():
        yield "trainer.log", lambda: _text(client, run_id, _tail(folder.log), "trainer.log")
    best = best_checkpoint(folder, folder.entries())
    if best is not None:
        yield "the best checkpoint", lambda: log_checkpoint(client, run_id, plan, best)


def _attempt(name: str, part: Callable[[], Any]) -> str | None:
    try:
        with speaking(f"upload {name}"):
            part()
    except Exception as error:  # noqa: BLE001 - whatever an artifact store raises, the run and the other files go on
        return f"{name}: {first_line(error)}"
    return None


def _text(client: MlflowClient, run_id: str, text: str, path: str) -> None:
    client.log_text(run_id, text, path)


def _file(client: MlflowClient, run_id: str, path: Path) -> None:
    client.log_artifact(run_id, str(path))


def _picture(client: MlflowClient, run_id: str, path: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copy(path, Path(scratch) / "forecast.png")
        client.log_artifact(run_id, str(copy), "figures")


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LOG_TAIL_BYTES))
        return file.read().decode(errors="replace")

"""MLflow: one run's life, its metrics, its checkpoints as LoggedModels. By explicit run ids, never an active run."""

from grpo_ops.home import make_quiet

make_quiet()  # before mlflow is imported: it reads some of these at import

from grpo_ops.tracking.connection import Outage, connect  # noqa: E402
from grpo_ops.tracking.curves import RunCurve, curve_of_run  # noqa: E402
from grpo_ops.tracking.reconcile import Repair, reconcile  # noqa: E402
from grpo_ops.tracking.study import Study, StudyRun, close_study, open_study, study_runs  # noqa: E402
from grpo_ops.tracking.tracker import Tracker, open_run  # noqa: E402
from grpo_ops.tracking.upload import Upload, start_upload  # noqa: E402

__all__ = [
    "Outage",
    "Repair",
    "RunCurve",
    "Study",
    "StudyRun",
    "Tracker",
    "Upload",
    "close_study",
    "connect",
    "curve_of_run",
    "open_run",
    "open_study",
    "reconcile",
    "start_upload",
    "study_runs",
]

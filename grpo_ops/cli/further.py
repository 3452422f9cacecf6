"""Where to look further: the commands that open what was stored, and the page that compares the runs."""

import shlex

from grpo_ops.home import Home, without_password

_LOCAL_UI = "http://127.0.0.1:5000"
_BEST_FIRST = "workflowType=machine_learning&orderByKey=metrics.%60eval_reward_best%60&orderByAsc=false"


def look_further(home: Home, storage: str | None, experiment: str | None = None) -> list[str]:
    """Commands and pages, one a line. storage: the Optuna URL, None for a run on its own; its password is not shown.

    experiment: name of the MLflow experiment, whose page is named with it.
    """
    uri = home.tracking_uri
    is_server = uri.startswith(("http://", "https://"))
    lines = [] if is_server else [f"mlflow ui --backend-store-uri {shlex.quote(without_password(uri))}"]
    number = _experiment_id(uri, experiment) if experiment else None
    if number is not None:
        page = f"{uri.rstrip('/') if is_server else _LOCAL_UI}/#/experiments/{number}/runs?{_BEST_FIRST}"
        lines.append(f"  the runs, best first: {without_password(page)}")
    lines.append(f"PREFECT_HOME={shlex.quote(str(home.prefect))} prefect server start")
    return lines + ([f"optuna-dashboard {shlex.quote(without_password(storage))}"] if storage else [])


def _experiment_id(tracking_uri: str, experiment: str) -> str | None:
    """The experiment's id; None where MLflow is away: a hint is not worth an error."""
    from grpo_ops.errors import TrackingError
    from grpo_ops.tracking.connection import Outage, connect, speaking

    try:
        client = connect(tracking_uri)
        with speaking("look up the experiment"):
            found = client.get_experiment_by_name(experiment)
    except (Outage, TrackingError):
        return None
    return found.experiment_id if found else None

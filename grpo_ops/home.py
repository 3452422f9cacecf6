"""Where everything lives: one folder, `./.grpo-ops` unless GRPO_OPS_HOME names another. Standard library only."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

#: Set (unless the user has set them) in every process that we start: nothing reports home, nothing waits for a network.
QUIET_ENVIRONMENT = {
    "DO_NOT_TRACK": "true",  # MLflow takes the literal "true" only
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "WANDB_DISABLED": "true",
    "TRL_EXPERIMENTAL_SILENCE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "2",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
}


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of a user's runs and databases; every path in it is made on use by its owner."""

    root: Path

    @classmethod
    def here(cls) -> "Home":
        """The home named by GRPO_OPS_HOME, else `./.grpo-ops`, as an absolute path."""
        return cls(Path(os.environ.get("GRPO_OPS_HOME") or ".grpo-ops").absolute())

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def cache(self) -> Path:
        return Path(os.environ.get("GRPO_OPS_CACHE") or self.root / "cache")

    @property
    def tracking_uri(self) -> str:
        """MLFLOW_TRACKING_URI where it is set, else a SQLite file in this home."""
        return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{self.root / 'mlflow.db'}"

    @property
    def has_tracking(self) -> bool:
        """Whether there may be anything in MLflow: false where its SQLite file has not been made yet."""
        file = self.tracking_uri.removeprefix("sqlite:///").partition("?")[0]
        return not self.tracking_uri.startswith("sqlite:///") or Path(file).exists()

    @property
    def artifacts(self) -> Path:
        return self.root / "mlartifacts"

    @property
    def optuna_url(self) -> str:
        return f"sqlite:///{self.root / 'optuna.db'}"

    @property
    def prefect(self) -> Path:
        return self.root / "prefect"


def quiet(environment: dict[str, str] | None = None) -> dict[str, str]:
    """A copy of `environment` (default: this process's) with QUIET_ENVIRONMENT filled in where nothing is set."""
    return QUIET_ENVIRONMENT | (dict(os.environ) if environment is None else environment)


def make_quiet() -> None:
    """Fill QUIET_ENVIRONMENT into this process's environment where nothing is set."""
    for name, value in QUIET_ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def without_password(url: str) -> str:
    """`url` as it may be shown: a password in it is replaced by stars, also where the URL is malformed."""
    shown = re.sub(r"(://[^:/@]*):[^/]*@", r"\1:***@", url)
    return re.sub(r"(?i)(password=)[^&\s]*", r"\1***", shown)

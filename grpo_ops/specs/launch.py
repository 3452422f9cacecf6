"""How a trainer is started: one process, or several that train together."""

from pydantic import Field

from grpo_ops.specs.base import Spec


class LaunchSpec(Spec):
    """The processes of one trainer: on GPUs through `accelerate launch`, on a CPU through `torchrun`."""

    processes: int = Field(1, gt=0)
    """Ranks, one a GPU. Each trains on per_device_train_batch_size completions in a micro step."""
    accelerate_config: str | None = Field(None, min_length=1)
    """A file written by `accelerate config`, for FSDP or DeepSpeed; `processes` wins over what it says."""

    @property
    def is_distributed(self) -> bool:
        """Whether the trainer is started through a launcher."""
        return self.processes > 1 or self.accelerate_config is not None

"""What writes the completions that are trained on: transformers, or vLLM under TRL's own names and defaults."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from grpo_ops.specs.base import Spec

#: Fields of trl.GRPOConfig that follow from `engine` or that the supervisor chooses.
DERIVED = frozenset({"use_vllm", "vllm_mode", "vllm_server_host", "vllm_server_port"})
#: Default of `trl vllm-serve`, whose GPUs are its own; that of trl.GRPOConfig is for GPUs shared with the trainer.
SERVER_GPU_MEMORY_UTILIZATION = 0.9


class RolloutSpec(Spec):
    """The engine of the rollouts; all `vllm_...` are settings of trl.GRPOConfig."""

    engine: Literal["transformers", "vllm-colocate", "vllm-server"] = "transformers"
    """`transformers`: the trainer's own model. `vllm-colocate`: vLLM in the trainer's process, on its GPUs.
    `vllm-server`: a server beside the trainer on GPUs of its own, which lives as long as the run."""
    devices: tuple[str, ...] = ()
    """GPUs of the server, as in CUDA_VISIBLE_DEVICES: `["2", "3"]`. Without it, the last of those that the run sees;
    the trainer gets the others."""
    allow_quantized: bool = False
    """Allow vLLM with a 4-bit base, though merging an adapter into it for each weight transfer loses precision."""
    vllm_model_impl: Literal["vllm", "transformers"] = "vllm"
    """Whose implementation of the model vLLM runs."""
    vllm_enable_sleep_mode: bool = False
    """Colocated: give vLLM's memory back during the optimiser step."""
    vllm_structured_outputs_regex: str | None = None
    """Completions must match it."""
    vllm_server_base_url: str | None = Field(None, min_length=1)
    """A server that somebody else runs, such as `http://node7:8000`: none is started here, and none is ended."""
    vllm_server_timeout: float = Field(240.0, gt=0)
    """Seconds within which a server must be up, its model loaded."""
    vllm_group_port: int = Field(51216, gt=0, lt=65536)
    """Port of the weight transfer to the server of `vllm_server_base_url`; for a server of ours a free one is taken."""
    vllm_gpu_memory_utilization: float = Field(0.3, gt=0, le=1)
    """Share of each GPU's memory that vLLM takes for weights and KV cache; 0.9 for a server, unless it is given."""
    vllm_max_model_length: int | None = Field(None, gt=0)
    """Longest prompt with completion, in tokens; the model's own window without it, which takes more KV cache."""
    vllm_tensor_parallel_size: int = Field(1, gt=0)
    """GPUs that one copy of the model is divided over; it must divide the number of attention heads."""
    vllm_importance_sampling_correction: bool = True
    """Correct for vLLM's probabilities differing from the trainer's."""
    vllm_importance_sampling_mode: Literal["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"] = (
        "sequence_mask"
    )
    vllm_importance_sampling_clip_max: float | None = Field(3.0, gt=0)
    vllm_importance_sampling_clip_min: float | None = Field(None, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _memory_of_a_server(cls, data: Any) -> Any:
        """A server's share of memory is that of `trl vllm-serve` where none is given."""
        name = "vllm_gpu_memory_utilization"
        if isinstance(data, Mapping) and data.get("engine") == "vllm-server" and name not in data:
            return {**data, name: SERVER_GPU_MEMORY_UTILIZATION}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> "RolloutSpec":
        faults = [*self._engine_faults(), *self._device_faults(), *self._clip_faults()]
        if faults:
            raise ValueError("\n".join(faults))
        return self

    @property
    def uses_vllm(self) -> bool:
        return self.engine != "transformers"

    @property
    def is_served(self) -> bool:
        """Whether the supervisor starts a server beside the trainer."""
        return self.engine == "vllm-server" and self.vllm_server_base_url is None

    @property
    def own_devices(self) -> int:
        """GPUs that the server of a run takes for itself."""
        return self.vllm_tensor_parallel_size if self.is_served else 0

    def settings(self) -> dict[str, Any]:
        """Fields of trl.GRPOConfig; {} for TRL's defaults, which are those of the transformers engine."""
        if not self.uses_vllm:
            return {}
        fields = self.model_dump(exclude={"engine", "devices", "allow_quantized"})
        return {"use_vllm": True, "vllm_mode": self.engine.removeprefix("vllm-"), **fields}

    def faults_beside(self, processes: int, max_completion_length: int) -> Iterator[str]:
        """What is wrong together with the ranks and the completions of the run."""
        parts, length = self.vllm_tensor_parallel_size, self.vllm_max_model_length
        if self.engine == "vllm-colocate" and processes % parts:
            yield (
                f"vllm_tensor_parallel_size: {parts} must divide launch.processes = {processes}: colocated vLLM "
                "divides its model over the trainer's own ranks"
            )
        if self.uses_vllm and length is not None and length <= max_completion_length:
            yield (
                f"vllm_max_model_length: {length} leaves no room for a prompt beside "
                f"grpo.max_completion_length = {max_completion_length}; raise it or leave it out"
            )

    def _engine_faults(self) -> Iterator[str]:
        if self.vllm_server_base_url is not None and self.engine != "vllm-server":
            yield f'vllm_server_base_url: needs engine = "vllm-server", not {self.engine!r}'
        if self.devices and not self.is_served:
            yield 'devices: are those of a server that is started here; leave them out or set engine = "vllm-server"'

    def _device_faults(self) -> Iterator[str]:
        names, parts = [name.strip() for name in self.devices], self.vllm_tensor_parallel_size
        if names and (len(set(names)) < len(names) or not all(names) or any("," in name for name in names)):
            yield f'devices: {list(self.devices)} must name each GPU once, each as a string: ["2", "3"]'
        elif names and len(names) != parts:
            yield f"devices: {len(names)} GPUs are named, but vllm_tensor_parallel_size = {parts} takes {parts}"

    def _clip_faults(self) -> Iterator[str]:
        low, high = self.vllm_importance_sampling_clip_min, self.vllm_importance_sampling_clip_max
        if low is not None and high is not None and low >= high:
            bound = f"vllm_importance_sampling_clip_max = {high:g}"
            yield f"vllm_importance_sampling_clip_min: {low:g} must be below {bound}"
        is_truncating = self.vllm_importance_sampling_mode.endswith("_truncate")
        if self.vllm_importance_sampling_correction and is_truncating and low is None and high is None:
            yield (
                f"vllm_importance_sampling_mode: {self.vllm_importance_sampling_mode!r} needs "
                "vllm_importance_sampling_clip_max or vllm_importance_sampling_clip_min"
            )

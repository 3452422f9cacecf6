"""The rollout engine as TRL's settings, and where the server of this run is."""

from typing import Any

from grpo_ops.errors import TrainingError
from grpo_ops.journal import RunFolder
from grpo_ops.specs import RolloutSpec


def rollout_settings(rollouts: RolloutSpec, folder: RunFolder) -> dict[str, Any]:
    """Fields of trl.GRPOConfig. The address of a server that the supervisor has started is in RUN/engine.json.

    Raises TrainingError where a server is to be there and the file is not.
    """
    settings = rollouts.settings()
    if not rollouts.is_served:
        return settings
    file = folder.path / "engine.json"
    engine = folder.read_json(file)
    if engine is None:
        raise TrainingError(f"{file} is missing: the supervisor starts the vLLM server and writes where it is")
    return settings | {"vllm_server_base_url": engine["base_url"], "vllm_group_port": engine["group_port"]}

"""`python -m grpo_ops.supervise.serve RUN_FOLDER PORT`: becomes `trl vllm-serve` for the model of that run."""

import os
import sys
from pathlib import Path

from grpo_ops.journal import RunFolder
from grpo_ops.specs import RunSpec
from grpo_ops.supervise.engine import HOST


def main(path: str, port: int) -> None:
    """Replace this process. Raises SpecError or TaskError where the folder's spec or its starter model is wrong."""
    folder = RunFolder(Path(path))
    spec = RunSpec.checked(folder.read_json(folder.spec)["spec"], str(folder.spec))
    place = _place(spec.model.id)
    if Path(place).is_dir():
        os.environ["HF_HUB_OFFLINE"] = "1"
    os.execv(sys.executable, serve_command(spec, place, port))


def serve_command(spec: RunSpec, place: str, port: int) -> list[str]:
    """`trl vllm-serve` under its own names. place: the model's folder, or its name on the hub."""
    rollouts, model = spec.rollouts, spec.model
    options = {
        "model": place,
        "revision": model.revision,
        "dtype": model.dtype,
        "host": HOST,
        "port": port,
        "tensor_parallel_size": rollouts.vllm_tensor_parallel_size,
        "gpu_memory_utilization": rollouts.vllm_gpu_memory_utilization,
        "max_model_len": rollouts.vllm_max_model_length,
        "vllm_model_impl": rollouts.vllm_model_impl,
        "trust_remote_code": model.trust_remote_code or None,
    }
    given = [text for name, value in options.items() if value is not None for text in (f"--{name}", str(value))]
    return [sys.executable, "-m", "trl.scripts.vllm_serve", *given]


def _place(model_id: str) -> str:
    if model_id.startswith("starter:"):
        from grpo_ops.tasks import starter_folder

        return str(starter_folder(model_id))
    folder = Path(model_id).expanduser()
    return str(folder.absolute()) if folder.is_dir() else model_id


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

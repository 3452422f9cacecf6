"""A trainer that knows the run folder and nothing of models: it writes the journal of a curve given by its spec.

The plateau falls with the distance of the learning rate from 1e-3, so a sweep has winners and losers. `TRAINER_MOOD`
in the environment makes it misbehave: crash:STEP[:ATTEMPT], hang:STEP, slow:SECONDS, deaf (ignores stop requests),
hold:STEP[:NUMBER] (runs from that number on wait at STEP until they are asked to stop or `release`d by a test).
"""

import json
import math
import os
import random
import signal
import sys
import time
from pathlib import Path

from grpo_ops.journal import Journal, RunFolder, read_journal, write_atomically

PROMPTS = 64
RELEASED = "released"  # a file beside the folders of the runs


def main(path: str) -> None:
    folder = RunFolder(Path(path))
    document = json.loads(folder.spec.read_text())
    spec, attempt = document["spec"], document["attempt"]
    steps, every = spec["grpo"]["max_steps"], spec["evaluation"]["every"]
    mood, _, argument = os.environ.get("TRAINER_MOOD", "").partition(":")
    noise = random.Random(spec["seed"])
    plateau = 0.85 - 0.25 * abs(math.log10(spec["grpo"]["learning_rate"] / 1e-3))
    resumed = _resume_step(folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_leave(folder, document, "stopped", {"reason": "preempted"})))
    with Journal(folder.journal, attempt) as journal:
        journal.append("start", pid=os.getpid(), max_steps=steps, resumed_from=resumed or None, versions={})
        for step in range(resumed, steps + 1):
            level = 0.2 + (plateau - 0.2) * (1 - math.exp(-4 * step / steps))
            if step:
                journal.step(step, {"reward": level + noise.gauss(0, 0.03), "reward_std": 0.2, "loss": 0.1})
            if step % every == 0:
                _evaluate(journal, folder, step, level)
            if mood == "crash" and [str(step), str(attempt)] == (argument + ":0").split(":")[:2]:
                raise RuntimeError(f"crashed at step {step}")
            if mood == "hang" and str(step) == argument:
                time.sleep(3600)
            while mood == "hold" and _is_held(folder, document, step, argument):
                time.sleep(0.02)
            time.sleep(float(argument) if mood == "slow" else 0.002)
            if mood != "deaf" and (stop := folder.stop_request()):
                _leave(folder, document, "stopped", stop, step)
                return
            if os.getppid() != document["supervisor"]["pid"]:
                return
    _leave(folder, document, "finished", None, steps)


def _is_held(folder: RunFolder, document: dict, step: int, argument: str) -> bool:
    held_at, _, first = argument.partition(":")
    number = int(document["run_key"].rpartition("-")[2])
    if str(step) != held_at or number < int(first or 0) or (folder.path.parents[1] / RELEASED).exists():
        return False
    return folder.stop_request() is None and os.getppid() == document["supervisor"]["pid"]


def _evaluate(journal: Journal, folder: RunFolder, step: int, level: float) -> None:
    right = round(level * PROMPTS)
    journal.append(
        "evaluation",
        step=step,
        mean=right / PROMPTS,
        digest="scripted",
        prompt_ids=[str(number) for number in range(PROMPTS)],
        outcomes=[1.0] * right + [0.0] * (PROMPTS - right),
        seconds=0.0,
        ask=None,
    )
    for role in ("best", "resume"):
        path = folder.checkpoints / f"{role}-{step}"
        path.mkdir(parents=True, exist_ok=True)
        (path / "adapter_config.json").write_text("{}")
        (path / "adapter_model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
        journal.append(
            "checkpoint", step=step, path=str(path.relative_to(folder.path)), sha256=f"{step:064d}", role=role
        )


def _resume_step(folder: RunFolder) -> int:
    entries = read_journal(folder.journal) if folder.journal.exists() else []
    return max((entry["step"] for entry in entries if entry["kind"] == "checkpoint"), default=0)


def _leave(folder: RunFolder, document: dict, reason: str, stop: dict | None, step: int = 0) -> int:
    result = {"run_key": document["run_key"], "attempt": document["attempt"], "reason": reason, "stop": stop}
    result |= {"message": (stop or {}).get("message", reason), "step": step, "last_checkpoint": None, "best": None}
    write_atomically(folder.result, json.dumps(result | {"seconds": 0.0}))
    return 0


if __name__ == "__main__":
    main(sys.argv[1])

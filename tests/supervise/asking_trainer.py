"""A trainer that asks the server of its run before each step, twice where the connection broke, as TRL's client does.

TRAINER_MOOD: crash:STEP, or wait:STEP (waits there until it is asked to end).
"""

import http.client
import json
import os
import signal
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from grpo_ops.journal import Journal, RunFolder, write_atomically


def main(path: str) -> None:
    folder = RunFolder(Path(path))
    document = json.loads(folder.spec.read_text())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(leave(folder, document, "stopped", {"reason": "preempted"})))
    server = urlsplit(json.loads((folder.path / "engine.json").read_text())["base_url"]).netloc
    mood, _, at = os.environ.get("TRAINER_MOOD", "").partition(":")
    done = max((entry["step"] for entry in folder.entries() if entry["kind"] == "checkpoint"), default=0)
    with Journal(folder.journal, document["attempt"]) as journal:
        seen = os.environ.get("CUDA_VISIBLE_DEVICES")
        journal.append("start", pid=os.getpid(), max_steps=20, resumed_from=done or None, versions={}, devices=seen)
        for step in range(done + 1, 21):
            generate(server)
            journal.step(step, {"reward": step / 40, "reward_std": 0.1})
            if step % 5 == 0:
                (folder.checkpoints / str(step)).mkdir(parents=True, exist_ok=True)
                saved = f"checkpoints/{step}"
                journal.append("checkpoint", step=step, path=saved, sha256="0", role="resume")
            if mood == "crash" and at == str(step):
                raise RuntimeError(f"crashed at step {step}")
            while mood == "wait" and at == str(step):
                time.sleep(0.05)
    leave(folder, document, "finished", None)


def generate(server: str) -> None:
    for attempt in (0, 1):
        connection = http.client.HTTPConnection(server, timeout=3600)
        try:
            connection.request("GET", "/generate")
            connection.getresponse()
            return
        except (OSError, http.client.HTTPException):
            if attempt:
                raise
        finally:
            connection.close()


def leave(folder: RunFolder, document: dict, reason: str, stop: dict | None) -> int:
    result = {"run_key": document["run_key"], "attempt": document["attempt"], "reason": reason, "stop": stop}
    write_atomically(folder.result, json.dumps(result | {"message": reason, "step": 20, "seconds": 0.0}))
    return 0


if __name__ == "__main__":
    main(sys.argv[1])

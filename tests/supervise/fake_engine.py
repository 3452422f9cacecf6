"""A server at the place of vLLM: `fake_engine.py RUN_FOLDER PORT` answers /health and /generate.

ENGINE_MOOD in the environment makes it misbehave, at its first start only unless `always` is appended: exit, sick
(never healthy), die:NUMBER, hang:NUMBER or close:NUMBER (at that request for completions: end, answer nothing any more,
close one connection without an answer). Each start is a line of RUN/starts.jsonl: its pid, that of a child in a session
of its own, and the GPUs that it sees.
"""

import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    mood, at = "", 0
    asked = 0

    def do_GET(self) -> None:
        if Handler.mood == "hang" and Handler.asked >= Handler.at:
            time.sleep(3600)
        if self.path == "/generate":
            Handler.asked += 1
            if Handler.asked == Handler.at and self._misbehave():
                return
        self.send_response(503 if Handler.mood == "sick" else 200)
        self.end_headers()

    def _misbehave(self) -> bool:
        if Handler.mood == "die":
            print("RuntimeError: the engine core died", file=sys.stderr, flush=True)
            os._exit(7)
        if Handler.mood == "hang":
            time.sleep(3600)
        self.close_connection = True
        return Handler.mood == "close"

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main(path: str, port: int) -> None:
    starts = Path(path) / "starts.jsonl"
    is_first = not starts.exists()
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    line = {"pid": os.getpid(), "child": child.pid, "devices": os.environ.get("CUDA_VISIBLE_DEVICES")}
    with starts.open("a") as file:
        file.write(json.dumps(line) + "\n")
    mood, _, rest = os.environ.get("ENGINE_MOOD", "").partition(":")
    at, _, always = rest.partition(":")
    if is_first or always:
        Handler.mood, Handler.at = mood, int(at or 0)
    if Handler.mood == "exit":
        sys.exit("ValueError: no such model")
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

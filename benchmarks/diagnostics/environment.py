"""An environment of the rivals' own, so that nothing of theirs comes near ours."""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

PACKAGES = ("rldoctor==0.2.0", "rlprobe==0.1.0")
RUNNER = Path(__file__).with_name("rival_runner.py")


class Rivals:
    """rldoctor and rlprobe, called as a child process that reads and writes JSON in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._python = folder / "environment" / "bin" / "python"
        if not self._python.exists():
            venv.create(folder / "environment", with_pip=True)
            self._run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES)

    def scenarios(self) -> list[dict[str, Any]]:
        """What both generate of themselves."""
        return self._ask("scenarios.json", "generate")

    def verdicts(self, runs: list[dict[str, Any]]) -> dict[str, dict[str, list[tuple[str, str]]]]:
        """By run and tool: (name, severity) of each finding, the tool's own order."""
        asked = self._folder / "runs.json"
        asked.write_text(json.dumps(runs))
        return self._ask("verdicts.json", "judge", str(asked))

    def _ask(self, name: str, *arguments: str) -> Any:
        answer = self._folder / name
        self._run(str(RUNNER), *arguments, str(answer))
        return json.loads(answer.read_text())

    def _run(self, *arguments: str) -> None:
        done = subprocess.run([str(self._python), *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)

"""A run's end on a terminal and as JSON names what was wrong with it."""

import io
import json

from rich.console import Console

from grpo_ops.cli.printing import print_run, run_document
from grpo_ops.journal import Journal, RunFolder
from grpo_ops.law.diagnostics import Finding, Severity, Symptom
from grpo_ops.supervise import conclude
from grpo_ops.sweep import TrainReport
from grpo_ops.sweep.board import Row, concluded

FINDINGS = [
    Finding(Symptom.TRUNCATION, Severity.WARNING, 5, "30% of the [completions] are cut.", "9 steps.", "Raise it."),
    Finding(Symptom.ALL_WRONG, Severity.CRITICAL, 1, "In 100% of the groups.", "20 steps.", "Easier ones."),
    Finding(Symptom.TRUNCATION, Severity.CRITICAL, 5, "95% of the [completions] are cut.", "15 steps.", "Raise it."),
]


def report(folder):
    with Journal(folder.journal, 0) as journal:
        for step in range(1, 21):
            journal.step(step, {"reward": 0.1})
        for finding in FINDINGS:
            journal.append("diagnosis", step=10, **finding.as_dict())
    folder.result.write_text(json.dumps({"attempt": 0, "reason": "finished", "step": 20, "stop": None}))
    result = conclude(folder, 0)
    return TrainReport(result, concluded(Row(folder.key, 0, {}, 20), result))


def test_each_diagnosis_is_one_line_with_its_last_word(tmp_path):
    file = io.StringIO()
    print_run(Console(file=file, width=60), report(RunFolder(tmp_path)))
    assert file.getvalue().splitlines()[-2:] == [
        "diagnosis (critical): truncation since step 5: 95% of the [completions] are cut.",
        "diagnosis (critical): no signal: all wrong since step 1: In 100% of the groups.",
    ]


def test_json_has_them_whole(tmp_path):
    document = json.loads(json.dumps(run_document(report(RunFolder(tmp_path)))))
    assert [Finding.of(found) for found in document["diagnoses"]] == [FINDINGS[2], FINDINGS[1]]

"""What was diagnosed in a run is a tag that MLflow's search finds, a row of its description, and is rebuilt."""

import json

import pytest
from mlflow import MlflowClient

from grpo_ops.journal import Journal
from grpo_ops.law.diagnostics import Finding, Severity, Symptom
from grpo_ops.tracking import open_run, reconcile
from grpo_ops.tracking.names import NOTE, diagnosis_tag
from tests.tracking.world import folder_of, make_spec, tags_of, write_start, write_steps

STALE = "grpo_ops.diagnosis.stale_rollouts"
EVIDENCE = "Sampler and trainer were 0.004 apart a token at the start and are 0.1 now, and it grows."


def write_diagnosis(journal, step, severity):
    finding = Finding(Symptom.STALE_ROLLOUTS, severity, 3, EVIDENCE, "9 of 12 steps so far (75%).", "Sync it.", 9)
    journal.append("diagnosis", step=step, **finding.as_dict())


def found(home, query):
    client = MlflowClient(home.tracking_uri)
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    return [run.data.tags["grpo_ops.run_key"] for run in client.search_runs(experiments, query)]


@pytest.mark.parametrize("symptom", Symptom)
def test_each_symptom_has_a_tag_of_its_own_that_needs_no_quoting(symptom):
    assert diagnosis_tag(symptom).removeprefix("grpo_ops.diagnosis.").replace("_", "").isalpha()
    assert len({diagnosis_tag(other) for other in Symptom}) == len(Symptom)


def test_c15_a_diagnosis_is_a_tag_while_the_run_goes_on_and_the_last_word_counts(home):
    """Row C15."""
    tracker, _ = open_run(home, make_spec(), "ill"), open_run(home, make_spec(), "well")
    with Journal(tracker.folder.journal, 0) as journal:
        write_steps(journal, range(1, 13))
        write_diagnosis(journal, 8, Severity.WARNING)
        tracker.log(tracker.folder.entries())
        assert tags_of(home.tracking_uri, tracker.run_id)[STALE] == f"warning since step 3: {EVIDENCE}"
        write_diagnosis(journal, 12, Severity.CRITICAL)
        tracker.log(tracker.folder.entries()[-1:])
    assert found(home, f"tags.`{STALE}` LIKE 'critical%'") == ["ill"]
    tracker.close("diverged", "stale rollouts", upload=False)
    tags = tags_of(home.tracking_uri, tracker.run_id)
    assert f"| diagnosis (critical) | stale rollouts since step 3: {EVIDENCE} |" in tags[NOTE]
    assert tags[NOTE].count("diagnosis (") == 1


def test_reconcile_makes_the_tag_from_the_journal(home):
    folder = folder_of(home, "ill")
    with Journal(folder.journal, 0) as journal:
        write_start(journal)
        write_steps(journal, range(1, 13))
        write_diagnosis(journal, 12, Severity.CRITICAL)
        journal.append("end", reason="stopped", message="diverged: stale rollouts")
    dead = {"pid": 2**22 + 1, "started": 0.0}
    document = {"run_key": "ill", "attempt": 0, "supervisor": dead, "spec": make_spec().model_dump(mode="json")}
    folder.spec.write_text(json.dumps(document))
    (repair,) = reconcile(home)
    assert repair.trouble is None
    assert found(home, f"tags.`{STALE}` LIKE 'critical since step 3%'") == ["ill"]

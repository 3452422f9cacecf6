import json
import subprocess

import pytest
from mlflow import MlflowClient

from grpo_ops.errors import RegistryError
from grpo_ops.registry import load_champion, promote
from tests.registry.studies import Workshop, promotion


def versions(home):
    return MlflowClient(home.tracking_uri).search_model_versions("name = 'arith'")


def champion(home):
    return str(MlflowClient(home.tracking_uri).get_model_version_by_alias("arith", "champion").version)


def snapshot(home):
    """All that a promotion could change."""
    files = {path: path.stat().st_mtime_ns for path in home.artifacts.rglob("*")}
    client = MlflowClient(home.tracking_uri)
    return files, [model.name for model in client.search_registered_models()], len(versions(home))


def test_the_best_checkpoint_becomes_champion_with_its_law_base_and_evaluation(home, workshop, base_path):
    workshop.study("s", 20, 30, 25)
    done = promote(promotion("s"), home)
    assert (done.status, done.version, done.previous) == ("promoted", "1", None)
    assert done.sentence == "step 10 of s-001 (0.750 ± 0.069 on 40 prompts) is now champion of arith, version 1"
    assert all(gate.passed for gate in done.gates)
    version = MlflowClient(home.tracking_uri).get_model_version_by_alias("arith", "champion")
    tags = {name.removeprefix("grpo_ops."): value for name, value in version.tags.items()}
    assert (tags["run_key"], tags["study"], tags["step"]) == ("s-001", "s", "10")
    assert (tags["law.form"], json.loads(tags["law.params"])) == ("exponential", {"initial": 0.3, "gain": 0.2})
    assert json.loads(tags["law.cov"]) == [[0.01, 0.0], [0.0, 0.01]]
    assert (float(tags["law.r2"]), float(tags["law.noise"])) == (0.93, 0.02)
    assert json.loads(tags["law.forecast"]) == {"mean": 0.55, "low": 0.5, "high": 0.6}
    assert float(tags["law.outcome"]) == pytest.approx(0.395)
    assert (tags["base.id"], len(tags["base.hash"])) == ("starter:arith-s@0.3", 64)
    assert (float(tags["eval.mean"]), tags["eval.prompts"], tags["eval.digest"]) == (0.75, "40", "d1")
    assert "PeftModel.from_pretrained" in version.description
    assert version.source == f"models:/{done.candidate.model_id}"
    model = MlflowClient(home.tracking_uri).get_logged_model(done.candidate.model_id)
    assert json.loads(model.tags["mlflow.modelVersions"]) == [{"name": "arith", "version": 1}]


def test_e2_only_the_adapter_is_stored_and_it_loads_onto_its_base_with_the_same_logits(
    home, workshop, adapter, base_path, monkeypatch
):
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    monkeypatch.delenv("GRPO_OPS_CACHE", raising=False)
    workshop.study("s", 30)
    promote(promotion("s"), home)
    loaded = load_champion("arith", home=home)
    assert sum(path.stat().st_size for path in loaded.path.iterdir()) < 100_000
    assert loaded.path.parent == home.cache / "models"
    assert load_champion("arith", home=home) == loaded
    assert (loaded.version, loaded.base.id) == ("1", "starter:arith-s@0.3")
    law = json.loads((loaded.path / "law.json").read_text())
    assert (law["law"], law["forecast"]["mean"], law["outcome"]) == ("exponential", 0.55, pytest.approx(0.395))
    tokens = torch.arange(20)[None]
    logits = []
    for path in (adapter, loaded.path):
        model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base_path), path)
        logits.append(model(tokens).logits)
    assert torch.equal(*logits)
    assert not torch.allclose(logits[0], AutoModelForCausalLM.from_pretrained(base_path)(tokens).logits)


def test_a_better_study_takes_over_and_remembers_the_champion_before(home, workshop):
    workshop.study("one", 20)
    workshop.study("two", 30)
    promote(promotion("one"), home)
    done = promote(promotion("two"), home)
    assert (done.status, done.version, done.previous) == ("promoted", "2", "1")
    assert champion(home) == "2"
    assert MlflowClient(home.tracking_uri).get_model_version("arith", "2").tags["grpo_ops.previous_version"] == "1"


@pytest.mark.parametrize(
    ("right", "changes", "spec", "reason"),
    [
        (20, {}, {}, "better: 0.500 ± 0.080 on 40 prompts against the champion's 0.750"),
        (30, {}, {}, "better"),
        (31, {}, {"min_improvement": 0.05}, "+0.025, more than 0.05 is needed"),
        (35, {"digest": "d2"}, {}, "cannot be compared with the champion"),
        (35, {"ending": "diverged"}, {}, "ended well: the run ended as diverged"),
        (35, {"nonfinite": "loss"}, {}, "finite: not finite: loss 1"),
        (35, {"extra": {"optimizer.pt": b"x"}}, {}, "file types: not safetensors, JSON or text: optimizer.pt"),
        (20, {"prompts": 20}, {}, "evaluated: evaluated on 20 held-out prompts, 32 are needed"),
    ],
)
def test_what_is_refused_leaves_the_champion(home, workshop, right, changes, spec, reason):
    workshop.study("one", 30)
    promote(promotion("one"), home)
    workshop.study("two", right, **changes)
    before = snapshot(home)
    done = promote(promotion("two", **spec), home)
    assert (done.status, done.version, done.previous) == ("refused", None, "1")
    assert reason in done.sentence
    assert champion(home) == "1"
    assert snapshot(home) == before


def test_a_dry_run_judges_and_writes_nothing(home, workshop):
    workshop.study("s", 30)
    before = snapshot(home)
    done = promote(promotion("s"), home, dry_run=True)
    assert (done.status, done.version) == ("promoted", None)
    assert "would become champion of arith" in done.sentence
    assert snapshot(home) == before


def test_promoting_again_changes_nothing(home, workshop):
    workshop.study("s", 30)
    promote(promotion("s"), home)
    before = snapshot(home)
    done = promote(promotion("s"), home)
    assert (done.status, done.version) == ("already", "1")
    assert snapshot(home) == before


def test_the_best_checkpoint_of_a_pruned_trial_is_the_best(home, workshop):
    workshop.study("s", 20)
    workshop.trial("s", 7, 30, ending="hopeless")
    assert promote(promotion("s"), home).candidate.run_key == "s-007"


def test_a_better_checkpoint_that_a_gate_refuses_is_passed_over(home, workshop):
    workshop.study("s", 20)
    workshop.trial("s", 7, 35, ending="failed")
    done = promote(promotion("s"), home)
    assert (done.status, done.candidate.run_key) == ("promoted", "s-000")
    assert done.passed_over == ("step 10 of s-007 is refused: ended well: the run ended as failed",)


def test_a_pattern_takes_the_newest_study(home, workshop):
    workshop.study("demo-1", 35)
    workshop.study("demo-2", 30)
    workshop.study("other", 38)
    assert promote(promotion("demo-*"), home).study == "demo-2"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"study": "nothing"}, "there is no study 'nothing'; known: s"),
        ({"study": "s", "experiment": "elsewhere"}, "there is no experiment 'elsewhere'"),
    ],
)
def test_what_cannot_be_found_is_an_error(home, workshop, spec, words):
    workshop.study("s", 30)
    with pytest.raises(RegistryError, match=words):
        promote(promotion(**spec), home)


def test_a_study_without_checkpoints_is_refused(home, workshop):
    workshop.study("s")
    done = promote(promotion("s"), home)
    assert (done.status, done.sentence) == ("refused", "study s has no evaluated checkpoint")


def test_no_such_champion_is_an_error(home):
    with pytest.raises(RegistryError, match="cannot load arith@champion"):
        load_champion("arith", home=home)


def test_a_version_that_a_crash_left_without_the_alias_is_completed(home, workshop):
    workshop.study("s", 30)
    promote(promotion("s"), home)
    client = MlflowClient(home.tracking_uri)
    client.delete_registered_model_alias("arith", "champion")
    client.delete_model_version_tag("arith", "1", "grpo_ops.law.form")
    done = promote(promotion("s"), home)
    assert (done.status, done.version) == ("promoted", "1")
    assert len(versions(home)) == 1
    assert client.get_model_version("arith", "1").tags["grpo_ops.law.form"] == "exponential"


def test_files_that_changed_since_the_upload_are_not_registered(home, workshop):
    workshop.study("s", 30)
    (weights,) = home.artifacts.rglob("adapter_model.safetensors")
    weights.write_bytes(b"something else")
    with pytest.raises(RegistryError, match="are not those that were uploaded"):
        promote(promotion("s"), home)
    assert MlflowClient(home.tracking_uri).search_registered_models() == []


def test_a_disk_that_is_full_leaves_the_old_champion_and_no_half_model(home, workshop):
    home.artifacts.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(home.artifacts)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.decode().strip()}")
    try:
        workshop.study("one", 20)
        promote(promotion("one"), home)
        workshop.study("two", 30)
        ballast = home.artifacts / "ballast"
        with pytest.raises(OSError, match="No space left"), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        with pytest.raises(RegistryError, match=r"nothing was promoted: .*No space left"):
            promote(promotion("two"), home)
        assert champion(home) == "1"
        assert len(versions(home)) == 1
        ballast.unlink()
        assert promote(promotion("two"), home).version == "2"
    finally:
        subprocess.run(["umount", str(home.artifacts)], check=True)


def test_the_same_over_a_server(home, adapter, server, tmp_path):
    server.start()
    Workshop(home, adapter).study("s", 20, 30)
    done = promote(promotion("s"), home)
    assert (done.status, done.candidate.run_key) == ("promoted", "s-001")
    loaded = load_champion("arith", home=home, destination=tmp_path / "model")
    assert (loaded.path / "adapter_model.safetensors").read_bytes() == (
        adapter / "adapter_model.safetensors"
    ).read_bytes()
    assert promote(promotion("s"), home).status == "already"

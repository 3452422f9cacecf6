import subprocess
from dataclasses import replace

import pytest

from grpo_ops.registry import Base, Candidate, Champion, Evidence, Score, judge
from grpo_ops.registry.base import base_of, weights_hash
from tests.registry.studies import promotion

SCORE = Score(0.75, 0.07, 40, "d1")
CANDIDATE = Candidate(
    model_id="m-1",
    run_id="r",
    run_key="s-000",
    study="s",
    step=10,
    sha256="a",
    content="c",
    score=SCORE,
    baseline=0.5,
    ending="finished",
    reason="all steps done",
    nonfinite="",
    base=Base("starter:arith-s@0.3", path="/base", hash="0" * 64),
    is_adapter=True,
    files={"adapter_model.safetensors": 66_000, "adapter_config.json": 500},
)
CHAMPION = Champion("3", "old-000", "b", replace(SCORE, mean=0.7))


@pytest.mark.parametrize(
    ("changes", "spec", "failed", "words"),
    [
        ({}, {}, None, ""),
        ({"ending": "hopeless"}, {}, None, ""),
        ({"ending": "plateau"}, {}, None, ""),
        ({"ending": "failed"}, {}, "ended well", "the run ended as failed"),
        ({"ending": "diverged"}, {}, "ended well", "the run ended as diverged"),
        ({"ending": None}, {}, "ended well", "the run has not ended"),
        ({}, {"min_prompts": 41}, "evaluated", "evaluated on 40 held-out prompts, 41 are needed"),
        ({"nonfinite": "loss 2"}, {}, "finite", "not finite: loss 2"),
        ({"files": {"adapter.bin": 5}}, {}, "file types", "not safetensors, JSON or text: adapter.bin"),
        ({"files": {"a.safetensors": 1, "b.pkl": 1}}, {}, "file types", "b.pkl"),
        ({}, {"max_size_mb": 0.05}, "size", "0.07 MB of at most 0.05 MB"),
        ({"files": {}}, {}, "size", "0.00 MB"),
        ({"base": Base("x", path="/gone")}, {}, "base known", "an adapter of x, whose weights are not at /gone"),
        ({"base": Base("org/model", revision="abc")}, {}, None, ""),
        ({"score": replace(SCORE, mean=0.7)}, {}, "better", "+0.000, it must be better"),
        ({"score": replace(SCORE, mean=0.6)}, {}, "better", "-0.100"),
        ({}, {"min_improvement": 0.1}, "better", "+0.050, more than 0.1 is needed"),
        ({"score": replace(SCORE, digest="d2")}, {}, "better", "cannot be compared with the champion (version 3)"),
    ],
)
def test_each_gate_gives_its_verdict_in_a_sentence(changes, spec, failed, words):
    evidence = Evidence(promotion("s", **spec), replace(CANDIDATE, **changes), CHAMPION)
    refusals = {result.name: result.sentence for result in judge(evidence) if not result.passed}
    assert list(refusals) == ([failed] if failed else [])
    assert words in refusals.get(failed, "")


@pytest.mark.parametrize(
    ("baseline", "passed", "words"),
    [(0.5, True, "+0.250"), (0.75, False, "+0.000"), (0.8, False, "-0.050"), (None, False, "no evaluation before")],
)
def test_the_first_champion_must_beat_its_own_base(baseline, passed, words):
    evidence = Evidence(promotion("s"), replace(CANDIDATE, baseline=baseline), None)
    (result,) = [result for result in judge(evidence) if result.name == "better"]
    assert result.passed is passed
    assert words in result.sentence


def test_e4_a_local_base_is_named_by_the_hash_of_its_weights(base_path, tmp_path):
    config = f'{{"base_model_name_or_path": "{base_path}"}}'
    base = base_of(config, "starter:arith-s", None)
    assert (base.path, base.hash) == (str(base_path), weights_hash(base_path))
    printed = subprocess.run(["sha256sum", base_path / "model.safetensors"], capture_output=True, text=True, check=True)
    assert base.hash == printed.stdout.split()[0]
    gone = base_of(f'{{"base_model_name_or_path": "{tmp_path / "gone"}"}}', "starter:arith-s", None)
    assert gone.hash is None


def test_a_base_on_the_hub_is_named_by_id_and_revision():
    base = base_of('{"base_model_name_or_path": "org/model"}', "org/model", "abc")
    assert base == Base("org/model", "abc")

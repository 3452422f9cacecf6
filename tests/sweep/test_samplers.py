"""Every sampler by name, its options, and what it never draws."""

import optuna
import pytest
from optuna.trial import TrialState

from grpo_ops.errors import SweepError
from grpo_ops.specs import SAMPLERS
from grpo_ops.sweep.held import Held
from grpo_ops.sweep.pruners import make_pruner
from grpo_ops.sweep.samplers import make_sampler
from grpo_ops.sweep.space import suggest
from tests.sweep.sweep_process import spec_with

BATCH, GROUP = "grpo.per_device_train_batch_size", "grpo.num_generations"
CHOICES = f'"{BATCH}"={{choices=[8,12,64]}}, "{GROUP}"={{choices=[4,6,16]}}'
RANGES = f'"{BATCH}"={{low=8,high=64,step=4}}, "{GROUP}"={{low=2,high=16}}'
REST = (
    '"grpo.beta"={choices=[0.0,0.01,0.1]}, "lora"={choices=[true,false]},'
    ' "lora.r"={low=2, high=8, step=2, only_if={"lora"=true}},'
    ' "grpo.epsilon_high"={low=0.2, high=0.4, step=0.1, only_if={"grpo.beta"=[0.01,0.1]}}'
)
SMALL = 'space={"grpo.beta"={choices=[0.0,0.1]}, "seed"={low=1,high=3,only_if={"grpo.beta"=0.1}}}'


def needs_package(name):
    if name == "cmaes":
        pytest.importorskip("cmaes")


def played(spec, count, study=None):
    """`count` trials that draw their points and are told a value which is best for large groups."""
    study = study or optuna.create_study(direction="maximize")
    study.sampler = make_sampler(spec, len(study.trials))
    points = []
    for _ in range(count):
        trial = study.ask()
        points.append(suggest(trial, spec))
        assert trial.params == points[-1]
        study.tell(trial, points[-1].get(GROUP, 0) / 16 + points[-1].get("grpo.beta", 0.0))
    return points


@pytest.mark.parametrize("linked", [CHOICES, RANGES])
@pytest.mark.parametrize("name", SAMPLERS)
def test_no_sampler_draws_what_is_no_valid_run(name, linked):
    needs_package(name)
    rate = "choices=[1e-4]" if name in ("grid", "brute_force") else "low=1e-5, high=1e-2, log=true"
    options = "sampler_options={n_startup_trials=4}" if name in ("gp", "tpe") else "sampler_options={}"
    space = f'space={{"grpo.learning_rate"={{{rate}}}, {linked}, {REST}}}'
    spec = spec_with(space, f"sampler={name}", options)
    points = played(spec, 8 if name == "gp" else 30)
    for point in points:
        assert spec.with_parameters(point).grpo.batch_faults() == []
        assert ("grpo.epsilon_high" in point) == (point["grpo.beta"] > 0)
        assert ("lora.r" in point) == point["lora"]
    assert len({str(point) for point in points}) > len(points) // 2


def test_a_continued_study_draws_new_points():
    for name in ("random", "tpe", "qmc"):
        spec = spec_with(f"sampler={name}")
        study = optuna.create_study(direction="maximize")
        points = played(spec, 4, study) + played(spec, 4, study)
        assert len({str(point) for point in points}) == 8, name


def test_tpe_learns_what_is_best_among_valid_combinations():
    """One of five combinations, which at random would come 3 times."""
    spec = spec_with(f"space={{{CHOICES}}}", "sampler=tpe", "trials=40", "sampler_options={n_startup_trials=8}")
    assert isinstance(make_sampler(spec, 0), Held)
    late = played(spec, 40)[20:]
    assert sum(point == {BATCH: 64, GROUP: 16} for point in late) > 5


@pytest.mark.parametrize("name", ["grid", "brute_force", "GridSampler"])
def test_a_grid_goes_once_through_all_valid_points(name):
    spec = spec_with(SMALL, f"sampler={name}", "trials=4")
    points = played(spec, 4)
    assert sorted(map(str, points)) == sorted(map(str, spec.searched.points()))
    assert len(points) == 4 == len({str(point) for point in points})


def test_a_grid_tries_a_point_that_failed_after_all_others():
    spec = spec_with(SMALL, "sampler=grid", "trials=4")
    study = optuna.create_study(direction="maximize", sampler=make_sampler(spec, 0))
    first = study.ask()
    failed = suggest(first, spec)
    study.tell(first, state=TrialState.FAIL)
    points = played(spec, 4, study)
    assert failed not in points[:3]
    assert points[3] == failed


def test_what_is_enqueued_is_kept_and_the_rest_fits():
    spec = spec_with(f"space={{{CHOICES}, {REST}}}")
    study = optuna.create_study(direction="maximize", sampler=make_sampler(spec, 0))
    fixed = [{GROUP: 16}, {BATCH: 12, "lora": True, "lora.r": 4}, {GROUP: 6, "grpo.beta": 0.0}] * 5
    for point in fixed:
        study.enqueue_trial(point)
    for point in fixed:
        trial = study.ask()
        drawn = suggest(trial, spec)
        assert point.items() <= drawn.items()
        assert spec.with_parameters(drawn).grpo.batch_faults() == []
        study.tell(trial, 0.0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            ["sampler=tpe", "sampler_options={gamma_x=1}"],
            "sampler_options.gamma_x: TPESampler has no such option; it takes ",
        ),
        (["sampler_options={seed=3}"], "sampler_options.seed: write it as the sweep's own seed = N"),
        (
            ["sampler=tpe", "sampler_options={n_startup_trials='ten'}"],
            "sampler_options.n_startup_trials: 'ten' is no int",
        ),
        (["sampler=qmc", "sampler_options={qmc_type='magic'}"], "sampler_options: QMCSampler refuses "),
        (["sampler=grid"], "space.grpo.learning_rate: grid needs choices, whole numbers or a step"),
        (["sampler=grid", SMALL, "trials=5"], "trials: 5 are more than the 4 valid points of the space"),
        (["sampler=grid", SMALL, "trials=4", "sampler_options={n=1}"], "sampler_options: grid takes none, but got n"),
        (["sampler=grid", 'space={"seed"={low=0,high=999999}}'], "space: 1000000 points are too many for grid"),
    ],
)
def test_what_a_sampler_refuses_is_one_sentence(settings, sentence):
    with pytest.raises(SweepError) as caught:
        make_sampler(spec_with(*settings), 0)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SweepError, match=r"sampler = 'cmaes' needs cmaes: pip install cmaes"):
        make_sampler(spec_with("sampler=cmaes"), 0)


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        (["name='law'"], optuna.pruners.NopPruner),
        (["name='none'"], optuna.pruners.NopPruner),
        (["name='median'", "options={n_warmup_steps=5}"], optuna.pruners.MedianPruner),
        (["name='percentile'", "options={percentile=25}"], optuna.pruners.PercentilePruner),
        (["name='sha'", "options={min_resource=12}"], optuna.pruners.SuccessiveHalvingPruner),
        (["name='hyperband'"], optuna.pruners.HyperbandPruner),
        (["name='patient'", "options={patience=2, wrapped_pruner='sha'}"], optuna.pruners.PatientPruner),
        (["name='patient'", "options={patience=2, wrapped_pruner='none'}"], optuna.pruners.PatientPruner),
        (["name='wilcoxon'"], optuna.pruners.WilcoxonPruner),
        (["name='threshold'", "options={lower=0.1}"], optuna.pruners.ThresholdPruner),
    ],
)
def test_pruners_by_name(settings, kind):
    assert type(make_pruner(spec_with(f"pruner={{{', '.join(settings)}}}"))) is kind


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("name='percentile'", "pruner.options: PercentilePruner needs percentile"),
        ("name='median', options={patience=1}", "pruner.options.patience: MedianPruner has no such option"),
        ("name='patient', options={patience=1, wrapped_pruner='law'}", "pruner.options.wrapped_pruner: 'law' is not"),
        ("name='sha', options={reduction_factor=0}", "pruner.options: SuccessiveHalvingPruner refuses"),
        ("name='sha', options={reduction_factor=true}", "pruner.options.reduction_factor: True is no int"),
    ],
)
def test_what_a_pruner_refuses_is_one_sentence(settings, sentence):
    with pytest.raises(SweepError) as caught:
        make_pruner(spec_with(f"pruner={{{settings}}}"))
    assert str(caught.value).startswith(sentence)

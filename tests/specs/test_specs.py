"""Specs: every shipped file loads, every fault is named, GRPO and LoRA settings are TRL's and PEFT's own."""

import dataclasses
import re
import types
import typing
from pathlib import Path

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.specs import (
    OWNED,
    GRPOSettings,
    LoraSettings,
    PromotionSpec,
    RunSpec,
    SweepSpec,
    guess_kind,
    load_spec,
    read_table,
    with_settings,
)

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
RUN, SWEEP = DEPLOYMENTS / "runs/demo.toml", DEPLOYMENTS / "sweeps/demo.toml"
SHIPPED = sorted(path for folder in ("runs", "sweeps", "promotions") for path in (DEPLOYMENTS / folder).glob("*.toml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_shipped_spec_loads_and_survives_json(path):
    spec = guess_kind(read_table(path)).checked(read_table(path), str(path))
    assert type(spec).model_validate_json(spec.model_dump_json()) == spec


def test_shipped_kinds_are_guessed():
    kinds = {path.parent.name: guess_kind(read_table(path)) for path in SHIPPED}
    assert kinds == {"runs": RunSpec, "sweeps": SweepSpec, "promotions": PromotionSpec}


@pytest.mark.parametrize(
    ("settings", "sentences"),
    [
        (["grpo.learning_rat=1"], ["grpo.learning_rat: unknown key; did you mean 'learning_rate'?"]),
        (["taks.source=jsonl"], ["taks: unknown key; did you mean 'task'?"]),
        (["grpo.max_steps=many"], ["grpo.max_steps: input should be a valid integer", "'many'"]),
        (["grpo.learning_rate=-1"], ["grpo.learning_rate: input should be greater than 0, but got -1"]),
        (["grpo.num_generations=7"], ["128 completions", "num_generations = 7", "8, 16, 32, 64, 128"]),
        (["grpo.steps_per_generation=2", "grpo.generation_batch_size=64"], ["not both"]),
        (["grpo.generation_batch_size=24"], ["24 must be a multiple of per_device_train_batch_size = 128"]),
        (["grpo.extra={logging_steps=5}"], ["extra.logging_steps: remove it; grpo-ops sets it itself"]),
        (["grpo.extra={beta=0.1}"], ["extra.beta: remove it; write it as grpo.beta"]),
        (["model.id=starter:arith-huge"], ["'starter:arith-huge' is no starter model"]),
        (["task.source=jsonl"], ["source = 'jsonl' needs a path"]),
        (["task.eval_split=train"], ["'train' is the training split"]),
        (["model.id=org/name"], ["'starter' prompts suit starter models only, not 'org/name'"]),
        (['rewards=[{name="a:f"},{name="b:f"}]'], ["2 rewards would be logged as 'f'", "log_name"]),
        (["name=Bad Name"], ["name: string should match pattern"]),
        (["grpo.learning_rate=inf"], ["grpo.learning_rate: input should be a finite number, but got inf"]),
        (["evaluation.temperature=nan"], ["evaluation.temperature: input should be a finite number"]),
        (["grpo.loss_type=ppo"], ["grpo.loss_type: 'ppo' is not known here; known: grpo, bnpo, dr_grpo"]),
        (["grpo.scale_rewards=grup"], ["grpo.scale_rewards: 'grup' is not known here; known: group, batch, none"]),
        (["grpo.importance_sampling_level=x"], ["known: token, sequence"]),
        (["grpo.multi_objective_aggregation=x"], ["known: sum_then_normalize, normalize_then_sum"]),
        (["grpo.lr_scheduler_type=cosin"], ["grpo.lr_scheduler_type: 'cosin' is not known here", "cosine"]),
        (["grpo.optim=adamw_torchh"], ["grpo.optim: 'adamw_torchh' is not known here; did you mean 'adamw_torch'?"]),
        (["lora.target_modules=[]"], ["lora.target_modules: () names no layer"]),
        (["lora.target_modules=''"], ["lora.target_modules: '' names no layer"]),
        (["grpo.learning_rat=1", "lora.q=3", "seed=x"], ["3 faults", "learning_rat", "lora.q", "seed"]),
    ],
)
def test_faults_are_named(settings, sentences):
    with pytest.raises(SpecError) as caught:
        load_spec(RunSpec, RUN, tuple(settings))
    for sentence in sentences:
        assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (['space={"grpo.learning_rte"={low=1,high=2}}'], "space.grpo.learning_rte"),
        (['space={"grpo.num_generations"={choices=[4,7]}}'], "space.grpo.num_generations = 7"),
        (['space={"seed"={low=3,high=1}}'], "low = 3 is above high = 1"),
        (['space={"seed"={low=0,high=1,log=true}}'], "log = true needs low > 0"),
        (['space={"seed"={low=1}}'], "give low and high, or choices"),
        (['enqueue=[{"lora.x"=1}]'], "enqueue.0.lora.x: is not in the space"),
        (['enqueue=[{"lora.r"=5}]'], "enqueue.0.lora.r: 5 is outside the space, which is one of 4, 8, 16"),
        (['enqueue=[{"lora.r"=4},{"grpo.learning_rate"=9}]'], "enqueue.1.grpo.learning_rate: 9 is outside the space"),
        (["direction=minimize"], "direction: unknown key"),
        (['space."grpo.learning_rate".high=inf'], "space.grpo.learning_rate.high: input should be a finite number"),
        (["run.grpo.epsilom=1"], "run.grpo.epsilom: unknown key; did you mean 'epsilon'?"),
    ],
)
def test_sweep_faults_are_named(settings, sentence):
    with pytest.raises(SpecError, match="fault") as caught:
        load_spec(SweepSpec, SWEEP, tuple(settings))
    assert sentence in str(caught.value)


def test_unreadable_files_are_one_sentence(tmp_path):
    (tmp_path / "broken.toml").write_text("a = [")
    for path in (tmp_path / "missing.toml", tmp_path / "broken.toml", tmp_path):
        with pytest.raises(SpecError, match=path.name):
            load_spec(RunSpec, path)


def test_a_run_that_names_itself_is_refused(tmp_path):
    (tmp_path / "a.toml").write_text('run = "b.toml"')
    (tmp_path / "b.toml").write_text('run = "a.toml"')
    (tmp_path / "self.toml").write_text('run = "self.toml"')
    for name in ("a.toml", "self.toml"):
        with pytest.raises(SpecError, match="names itself by its own run"):
            read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("kind", "path", "command"),
    [
        (RunSpec, SWEEP, "sweep"),
        (SweepSpec, RUN, "train"),
        (PromotionSpec, RUN, "train"),
        (PromotionSpec, SWEEP, "sweep"),
    ],
)
def test_another_kind_of_spec_is_called_what_it_is(kind, path, command):
    with pytest.raises(SpecError, match=f"use `grpo-ops {command}`") as caught:
        load_spec(kind, path)
    assert len(caught.value.faults) == 1


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ({"model": "m", "studdy": "s"}, PromotionSpec),
        ({"modle": "m", "study": "s"}, PromotionSpec),
        ({"name": "a", "modle": {}, "task": {}, "grpo": {}}, RunSpec),
        ({"name": "a", "trails": 3, "spce": {}, "run": {}}, SweepSpec),
    ],
)
def test_a_misspelt_key_does_not_change_the_kind(table, kind):
    assert guess_kind(table) is kind


def test_settings_are_toml_values_or_text():
    settings = ("a.b=1e-5", "a.c=true", "d=plain text", "l.0.w=2", 's."x.y".low=1', "s.'x.y'.high=2")
    table = with_settings({"a": {"b": 1}, "l": [{"w": 1}]}, settings)
    expected = {"a": {"b": 1e-5, "c": True}, "d": "plain text", "l": [{"w": 2}], "s": {"x.y": {"low": 1, "high": 2}}}
    assert table == expected
    for wrong in ("no_equals", "l.5.w=1", "a.b.c=1", "a..b=1", '"x.y=1', 's."x".=1', '"a"\n[b]=1'):
        with pytest.raises(SpecError):
            with_settings({"a": {"b": 1}, "l": [{"w": 1}]}, (wrong,))


def test_trial_parameters_are_put_into_the_run():
    spec = load_spec(SweepSpec, SWEEP)
    run = spec.with_parameters({"grpo.learning_rate": 5e-4, "lora.r": 4})
    assert (run.grpo.learning_rate, run.lora.r) == (5e-4, 4)
    assert run.task == spec.run.task


def _plain(annotation):
    """A type with the parts that a string can be written for (enums and Literals of text) as `str`."""
    if isinstance(annotation, type) and issubclass(annotation, str):
        return {str}
    if typing.get_origin(annotation) is typing.Literal:
        return {type(value) for value in typing.get_args(annotation)}
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return set().union(*(_plain(part) for part in typing.get_args(annotation)))
    return {typing.get_origin(annotation) or annotation}


def test_grpo_settings_are_trls_own():
    trl = pytest.importorskip("trl")
    fields = {field.name: field for field in dataclasses.fields(trl.GRPOConfig)}
    assert fields.keys() >= OWNED
    # max_steps is required here: the horizon of the law. extra is ours.
    for name, own in GRPOSettings.model_fields.items():
        if name == "extra":
            continue
        theirs = fields[name]
        declared = _plain(theirs.type)
        if name in ("optim", "lr_scheduler_type"):  # an enum there: its members are compared below
            declared = {str}
        assert _plain(own.annotation) <= declared, name
        if name != "max_steps":
            default = theirs.default
            assert own.default == (default.value if hasattr(default, "value") else default), name


def test_the_words_for_choices_are_known_to_transformers_and_trl():
    training_args = pytest.importorskip("transformers.training_args")
    trl = pytest.importorskip("trl")
    assert _words("optim") == {name.value for name in training_args.OptimizerNames}
    unusable = {"reduce_lr_on_plateau", "greedy"}
    assert _words("lr_scheduler_type") == {name.value for name in training_args.SchedulerType} - unusable
    source = (Path(trl.__file__).parent / "trainer/grpo_trainer.py").read_text()
    for name in ("loss_type", "scale_rewards", "importance_sampling_level", "multi_objective_aggregation"):
        compared = set(re.findall(r'"(\w+)"', "".join(re.findall(rf"\.{name} (?:==|!=|in|not in) (.*)", source))))
        assert _words(name) <= compared, name


def _words(name):
    return set(typing.get_args(GRPOSettings.model_fields[name].annotation))


def test_lora_settings_are_pefts_own():
    peft = pytest.importorskip("peft")
    fields = {field.name: field for field in dataclasses.fields(peft.LoraConfig)}
    for name, own in LoraSettings.model_fields.items():
        assert own.default == fields[name].default, name

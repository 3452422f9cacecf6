import pytest

from grpo_ops.errors import TrackingError
from grpo_ops.tracking.names import STATUSES, clean_name, cut, quoted, status_of
from grpo_ops.tracking.params import VALUE_LENGTH, changed_params, flat_params
from tests.tracking.world import make_spec


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("reward", "reward"),
        ("rewards/exact_match/mean", "rewards/exact_match/mean"),
        ("rewards/<lambda>/mean", "rewards/_lambda_/mean"),
        ("f(x)", "f_x_"),
        ("law/forecast", "law/forecast"),
        ("a//b", "a__b"),
        ("../x", "_x"),
        ("/x", "_x"),
        ("x" * 300, "x" * 250),
    ],
)
def test_names_are_those_of_trl_as_far_as_mlflow_takes_them(name, cleaned):
    assert clean_name(name) == cleaned


@pytest.mark.parametrize(("ending", "status"), STATUSES.items())
def test_every_ending_has_a_status(ending, status):
    assert status_of(ending) == status


def test_an_unknown_ending_is_refused():
    with pytest.raises(TrackingError, match="'done' is no ending; known: finished"):
        status_of("done")


def test_a_quote_cannot_be_searched_for():
    with pytest.raises(TrackingError, match="holds a quote"):
        quoted("it's")


def test_cut_keeps_the_length():
    assert cut("abcdef", 4) == "abc…"
    assert cut("abc", 4) == "abc"


def test_a16_every_setting_is_a_param_under_its_dotted_path():
    params = flat_params(make_spec(lora={"r": 16, "target_modules": ["q_proj", "v_proj"]}).model_dump(mode="json"))
    assert params["grpo.learning_rate"] == "0.0001"
    assert params["lora.r"] == "16"
    assert params["lora.target_modules"] == '["q_proj", "v_proj"]'
    assert params["rewards.0.name"] == "exact_match"
    assert params["model.revision"] == "None"
    assert "grpo.extra" not in params


def test_a1_long_values_are_cut_short():
    params = flat_params({"template": "x" * 10_000})
    assert len(params["template"]) == VALUE_LENGTH


def test_a4_changed_params_are_told_apart_from_new_ones():
    assert changed_params({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == {"b": ("2", "3")}

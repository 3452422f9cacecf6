import pytest

from grpo_ops.errors import CurveError
from grpo_ops.reading import read_curve

ASSUMED = "the log names no steps and shows no progress bar: one a line is assumed, as if logging_steps were 1"
FROM_BARS = "the log names no steps: they are from its progress bars"


def line(reward, version=5, epoch=0.1):
    values = {"loss": 0.0, "grad_norm": 0.1, "reward": reward, "completions/mean_length": 93.5, "epoch": epoch}
    return str({key: f"{value:.4g}" for key, value in values.items()} if version == 5 else values)


def bar(done, total=200):
    return f"\r {100 * done // total:3d}%|{'█' * 3}▌      | {done}/{total} [00:30<09:30,  3.00s/it]"


def read(tmp_path, text, name="a.log", **options):
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return read_curve(tmp_path / name, **options)


@pytest.mark.parametrize("name", ["a.log", "a.txt", "a.out", "slurm-77.err", "log"])
@pytest.mark.parametrize("version", [4, 5])
def test_lines_without_a_bar_are_counted_and_that_is_said(tmp_path, name, version):
    reading = read(tmp_path, "".join(f"{line(reward, version)}\n" for reward in (0.1, 0.2, 0.4)), name)
    assert (reading.curve.steps, reading.curve.rewards) == ((1, 2, 3), (0.1, 0.2, 0.4))
    assert reading.curve.metrics["completions/mean_length"] == (93.5, 93.5, 93.5)
    assert reading.notes == (ASSUMED,)


@pytest.mark.parametrize(
    "pieces",
    [
        "".join(f"{bar(step)}{' ' * 40}\r{line(step / 100)}\n{bar(step)}{bar(step + 1)}" for step in (10, 20, 30)),
        "".join(f"{bar(step)}{line(step / 100)}\n" for step in (10, 20, 30)),
        "".join(f"{bar(step - 1)}\n{bar(step)}\n{line(step / 100)}\n" for step in (10, 20, 30)),
        f"Map: 100%|██| 99/99 [00:01<00:00]\n{bar(10)}{line(0.1)}\nLoading: 50%|█ | 2/4 [00:01<00:00]\n"
        f"{bar(20)}{line(0.2)}\n{bar(30)}\n{line(0.3)}\n",
    ],
)
def test_steps_are_those_of_the_progress_bars(tmp_path, pieces):
    reading = read(tmp_path, pieces)
    assert (reading.curve.steps, reading.curve.rewards) == ((10, 20, 30), (0.1, 0.2, 0.3))
    assert reading.curve.max_steps == 200 and reading.notes[0] == FROM_BARS
    assert "a mean over 10 steps" in reading.notes[1]


def test_lines_that_came_long_after_their_bars_are_counted_by_the_bars(tmp_path):
    lines = [f"{line(0.1)}\n" for _ in range(20)]
    text = "".join(map(bar, range(1, 101))) + "".join(lines[:10]) + "".join(map(bar, range(101, 201)))
    reading = read(tmp_path, text + "".join(lines[10:]))
    assert reading.curve.steps == tuple(range(10, 201, 10))
    assert reading.notes[0] == "the log names no steps: 10 a line is assumed, by its progress bars"


def test_a_resumed_run_in_the_same_log(tmp_path):
    first = "".join(f"{bar(step)}\n{line(0.1)}\n" for step in (10, 20, 30))
    again = "".join(f"{bar(step)}\n{line(0.2)}\n" for step in (30, 40, 50))
    reading = read(tmp_path, first + again)
    assert (reading.curve.steps, reading.curve.rewards) == ((10, 20, 30, 40, 50), (0.1, 0.1, 0.2, 0.2, 0.2))
    assert "1 repeated step: the last value counts (a resumed run)" in reading.notes


def test_evaluations_the_summary_and_what_a_reward_prints_are_not_points(tmp_path):
    text = (
        f"{{'answer': 5, 'reward': 1.0}}\n{line(0.1)}\n{{'eval_loss': 0.1, 'eval_reward': 0.9, 'epoch': 0.1}}\n"
        f"{{'loss': nan, 'reward': nan, 'epoch': 0.2}}\n{line('nan', 4)}\n{line(0.3)}\n"
        "{'train_runtime': '12.5', 'train_loss': '0.0', 'epoch': '1.0'}\n"
    )
    reading = read(tmp_path, text)
    assert (reading.curve.steps, reading.curve.rewards) == ((1, 4), (0.1, 0.3))
    assert "2 rows without a finite reward left out, first at step 2" in reading.notes
    assert read(tmp_path, text, reward="eval_reward").curve.rewards == (0.9,)


@pytest.mark.parametrize("key", ["step", "global_step", "train/global_step"])
def test_a_step_in_the_line_counts(tmp_path, key):
    text = "".join(f"{bar(step)}\n{{'{key}': {step + 5}, 'reward': 0.5}}\n" for step in (1, 2))
    reading = read(tmp_path, text)
    assert (reading.curve.steps, reading.notes) == ((6, 7), ())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello\n", "is not a curve: give a CSV, .* or a console log with lines such as"),
        (b"{'loss': 0.1, 'epoch': 1}\n", "has no reward column; it has 'loss', 'epoch': say which one"),
        (b"{'loss': 0.1, 'eval_reward': 1}\n", "no training reward, only that of evaluations"),
        (b"\0{'reward': 1}\n", "is not a curve"),
        (b"{'reward': 'x'}\n", "no row with a whole step and a finite reward"),
        (b"", "is not a curve"),
    ],
)
def test_other_logs_are_refused(tmp_path, content, message):
    (tmp_path / "a.log").write_bytes(content)
    with pytest.raises(CurveError, match=message):
        read_curve(tmp_path / "a.log")

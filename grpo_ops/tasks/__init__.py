"""Prompts, reward functions and starter models. Nothing heavy is imported before it is used."""

from grpo_ops.tasks.guard import Reward
from grpo_ops.tasks.lengths import Room, prompt_length, room_for
from grpo_ops.tasks.load import load_task
from grpo_ops.tasks.presets import STARTER_TASKS, StarterTask
from grpo_ops.tasks.starter import starter_folder
from grpo_ops.tasks.table import known_rewards, load_rewards
from grpo_ops.tasks.types import Prompt, Row, Task, prompt_text

__all__ = [
    "STARTER_TASKS",
    "Prompt",
    "Reward",
    "Room",
    "Row",
    "StarterTask",
    "Task",
    "known_rewards",
    "load_rewards",
    "load_task",
    "prompt_length",
    "prompt_text",
    "room_for",
    "starter_folder",
]

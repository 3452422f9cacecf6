"""The scripted trainer with noisy evaluations, which also answers RUN/ask.json: with 0 for every prompt."""

import random
import sys

from grpo_ops.journal import Journal, RunFolder
from tests import scripted_trainer

FOLDER = RunFolder(scripted_trainer.Path(sys.argv[1]))


class Answering(Journal):
    """Answers, once an id, after each step that it writes."""

    answered: set[str]

    def step(self, step, metrics):
        super().step(step, metrics)
        question, answered = FOLDER.read_json(FOLDER.ask), self.__dict__.setdefault("answered", set())
        if question is not None and question["id"] not in answered:
            answered.add(question["id"])
            prompts = question["prompts"]
            fields = {"prompt_ids": prompts, "outcomes": [0.0] * len(prompts), "mean": 0.0, "digest": "again"}
            self.append("evaluation", step=step, seconds=0.0, ask=question["id"], **fields)


def evaluate_noisily(journal, folder, step, level, evaluate=scripted_trainer._evaluate):
    """The noise is the same at every start: it is that of the run and the step."""
    evaluate(journal, folder, step, level + random.Random(f"{folder.key[-3:]} {step}").gauss(0, 0.06))


if __name__ == "__main__":
    scripted_trainer.Journal = Answering
    scripted_trainer._evaluate = evaluate_noisily
    scripted_trainer.main(sys.argv[1])

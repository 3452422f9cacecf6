"""Your own Optuna study around your own TRL script; of grpo-ops it takes nothing but the pruner.

Real GRPO on a CPU, in less than a minute: tiny language models, made here, learn to say 7 at eight learning rates.
"""

import optuna
from datasets import Dataset
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from grpo_ops.pruning import LawPruner

WORDS = Tokenizer(models.WordLevel({word: number for number, word in enumerate(["pad", "eos", *"0123456789"])}))
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=WORDS, pad_token="pad", eos_token="eos")
SIZE = LlamaConfig(vocab_size=12, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2)
PROMPTS = Dataset.from_dict({"prompt": list("0123456789")})
FIXED = {"max_steps": 40, "logging_steps": 1, "max_completion_length": 8, "save_strategy": "no", "bf16": False}


def objective(trial):
    class Report(TrainerCallback):
        def on_log(self, args, state, control, logs, **_):
            if "reward" in logs:
                trial.report(logs["reward"], state.global_step)
                control.should_training_stop = trial.should_prune()

    args = GRPOConfig(learning_rate=trial.suggest_float("learning_rate", 1e-4, 3e-2, log=True), **FIXED)
    rewards = [lambda completions, **_: [text.count("7") / 8 for text in completions]]
    trainer = GRPOTrainer(LlamaForCausalLM(SIZE), rewards, args, PROMPTS, None, TOKENIZER, callbacks=[Report()])
    trainer.train()
    if trial.should_prune():
        raise optuna.TrialPruned
    return trainer.state.log_history[-2]["reward"]


optuna.create_study(direction="maximize", pruner=LawPruner(max_steps=40)).optimize(objective, n_trials=8)

"""One of many processes that work on a study: `study_worker.py KIND ADDRESS TRIALS REPORTS`.

KIND is sqlite (ADDRESS: its file), journal (a file) or grpc (a port of this machine). `serve PORT FILE` is the server.
"""

import sys
import warnings

import numpy as np
import optuna
from optuna.samplers import BaseSampler
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

from grpo_ops.pruning import LawPruner

STUDY = "shared"


def storage_of(kind: str, address: str) -> BaseStorage:
    if kind == "journal":
        return JournalStorage(JournalFileBackend(address))
    if kind == "grpc":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            storage = optuna.storages.GrpcStorageProxy(host="127.0.0.1", port=int(address))
        storage.wait_server_ready(timeout=120)
        return storage
    return RDBStorage(f"sqlite:///{address}", engine_kwargs={"connect_args": {"timeout": 120}})


def rewards(end: float, reports: int, seed: int) -> list[float]:
    x = np.arange(1, reports + 1) / reports
    noise = np.random.default_rng(seed).normal(0, 0.02, reports)
    return [float(value) for value in end - (end - 0.2) * np.exp(-x / 0.3) + noise]


def work(storage: BaseStorage, trials: int, reports: int, sampler: BaseSampler | None = None) -> None:
    def objective(trial: optuna.Trial) -> float:
        reward = 0.0
        curve = rewards(trial.suggest_float("end", 0.2, 0.9), reports, trial.number)
        for step, reward in enumerate(curve, start=1):
            trial.report(reward, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return reward

    study = optuna.load_study(study_name=STUDY, storage=storage, pruner=LawPruner(reports), sampler=sampler)
    study.optimize(objective, n_trials=trials)


def main() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kind, address, *rest = sys.argv[1:]
    if kind == "serve":
        backing = storage_of("sqlite", rest[0])
        optuna.storages.run_grpc_proxy_server(backing, host="127.0.0.1", port=int(address))
    else:
        work(storage_of(kind, address), *map(int, rest))


if __name__ == "__main__":
    main()

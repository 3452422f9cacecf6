"""Promotion: a study's best checkpoint becomes the champion, if every gate lets it."""

from dataclasses import replace
from typing import Literal

from mlflow import MlflowClient
from mlflow.entities import LoggedModel
from mlflow.exceptions import MlflowException

from grpo_ops.errors import RegistryError
from grpo_ops.home import Home
from grpo_ops.registry.alias import move_alias, read_champion
from grpo_ops.registry.candidates import best_models, candidate_of, find_study_name
from grpo_ops.registry.gates import judge
from grpo_ops.registry.types import Candidate, Champion, Evidence, GateResult, Promotion
from grpo_ops.registry.versions import complete, find_version, register
from grpo_ops.specs import PromotionSpec
from grpo_ops.tracking import Outage, connect
from grpo_ops.tracking.connection import first_line, patient

#: So many of the best checkpoints are looked at before a study is refused.
_MOST_CANDIDATES = 10


def promote(spec: PromotionSpec, home: Home, *, dry_run: bool = False) -> Promotion:
    """Register the study's best checkpoint (by held-out evaluation) and move the alias to it; a refusal is a value.

    The alias moves last, after the version is complete and has been read back: whatever happens, it points at the old
    champion or at the new one. Run again, it completes what a crash has left. dry_run judges and writes nothing.
    Raises RegistryError where the study or MLflow cannot be found, or files cannot be stored.
    """
    try:
        with patient():
            return _promote(connect(home.tracking_uri), spec, home, dry_run)
    except (Outage, OSError) as error:
        raise RegistryError(f"nothing was promoted: {first_line(error)}") from error
    except MlflowException as error:
        raise RegistryError(f"nothing was promoted: MLflow says {first_line(error)}") from error


def _promote(client: MlflowClient, spec: PromotionSpec, home: Home, dry_run: bool) -> Promotion:
    study, models = _study_models(client, spec, home)
    champion = read_champion(client, spec.model, spec.alias)
    refusals: list[Promotion] = []
    for model in models[:_MOST_CANDIDATES]:
        candidate = candidate_of(client, model, home.tracking_uri)
        if champion is not None and (candidate.run_key, candidate.sha256) == (champion.run_key, champion.sha256):
            return _already(spec, candidate, champion, refusals)
        gates = judge(Evidence(spec, candidate, champion))
        if all(gate.passed for gate in gates):
            return _install(client, spec, candidate, champion, gates, refusals, dry_run)
        refusals.append(_refused(spec, candidate, champion, gates))
        if not next(gate.passed for gate in gates if gate.name == "better"):
            break  # the next ones were evaluated no better
    if refusals:
        return replace(refusals[0], passed_over=_sentences(refusals[1:]))
    return Promotion("refused", f"study {study} has no evaluated checkpoint", spec.model, spec.alias, study)


def _study_models(client: MlflowClient, spec: PromotionSpec, home: Home) -> tuple[str, list[LoggedModel]]:
    experiment = client.get_experiment_by_name(spec.experiment)
    if experiment is None:
        raise RegistryError(f"there is no experiment {spec.experiment!r} in {home.tracking_uri}")
    study = find_study_name(client, experiment.experiment_id, spec.study)
    return study, best_models(client, experiment.experiment_id, study)


def _install(
    client: MlflowClient,
    spec: PromotionSpec,
    candidate: Candidate,
    champion: Champion | None,
    gates: tuple[GateResult, ...],
    refusals: list[Promotion],
    dry_run: bool,
) -> Promotion:
    what = f"step {candidate.step} of {candidate.run_key} ({candidate.score})"
    done = _outcome("promoted", f"{what} would become {spec.alias} of {spec.model}", spec, candidate, champion, gates)
    done = replace(done, passed_over=_sentences(refusals))
    if dry_run:
        return done
    found = find_version(client, spec.model, candidate)
    version = (
        register(client, spec, candidate, champion) if found is None else complete(client, found, candidate, champion)
    )
    move_alias(client, spec, version, champion)
    return replace(done, version=version, sentence=f"{what} is now {spec.alias} of {spec.model}, version {version}")


def _already(spec: PromotionSpec, candidate: Candidate, champion: Champion, refusals: list[Promotion]) -> Promotion:
    sentence = f"step {candidate.step} of {candidate.run_key} is {spec.alias} of {spec.model} already"
    done = _outcome("already", f"{sentence}, version {champion.version}", spec, candidate, champion, ())
    return replace(done, version=champion.version, previous=None, passed_over=_sentences(refusals))


def _refused(
    spec: PromotionSpec, candidate: Candidate, champion: Champion | None, gates: tuple[GateResult, ...]
) -> Promotion:
    reasons = "; ".join(f"{gate.name}: {gate.sentence}" for gate in gates if not gate.passed)
    sentence = f"step {candidate.step} of {candidate.run_key} is refused: {reasons}"
    return _outcome("refused", sentence, spec, candidate, champion, gates)


def _outcome(
    status: Literal["promoted", "refused", "already"],
    sentence: str,
    spec: PromotionSpec,
    candidate: Candidate,
    champion: Champion | None,
    gates: tuple[GateResult, ...],
) -> Promotion:
    return Promotion(
        status,
        sentence,
        spec.model,
        spec.alias,
        candidate.study,
        previous=champion.version if champion else None,
        gates=gates,
        candidate=candidate,
    )


def _sentences(refusals: list[Promotion]) -> tuple[str, ...]:
    return tuple(refusal.sentence for refusal in refusals)

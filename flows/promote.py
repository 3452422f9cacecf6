"""grpo-promote: a study's best checkpoint becomes the champion, if the gates let it."""

import dataclasses
import json
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from grpo_ops.cli.board import terminal
from grpo_ops.cli.printing import print_promotion
from grpo_ops.home import Home
from grpo_ops.registry import promote
from grpo_ops.specs import PromotionSpec


@flow(name="grpo-promote", log_prints=True)
def grpo_promote(spec: PromotionSpec, dry_run: bool = False) -> State[dict[str, Any]]:
    """Promote; a refusal is a completed flow run named Refused, with the gates as a table artifact."""
    promotion = promote(spec, Home.here(), dry_run=dry_run)
    gates = [{"gate": gate.name, "passed": gate.passed, "why": gate.sentence} for gate in promotion.gates]
    print_promotion(terminal(as_json=False), promotion, dry_run)
    create_table_artifact(table=gates, key="grpo-promotion-gates", description=promotion.sentence)
    name = "Refused" if promotion.status == "refused" else "Completed"
    data = json.loads(json.dumps(dataclasses.asdict(promotion), default=str))
    return Completed(name=name, message=promotion.sentence, data=data)

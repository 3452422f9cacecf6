"""What a flow checks before it starts: a caller of the API may not name code to run."""

import os

from prefect import get_client
from prefect.context import FlowRunContext

from grpo_ops.errors import SpecError
from grpo_ops.preflight import check
from grpo_ops.specs import RunSpec


def refuse_what_only_a_local_file_may_name(spec: RunSpec) -> None:
    """Pre-flight for a spec that came as a parameter. Raises SpecError with every fault.

    An import path as a reward, or a model's own code, is code that the caller chooses: from a local file only.
    """
    faults = list(check(spec, allow_import_paths=False))
    if spec.model.trust_remote_code:
        faults.append("model.trust_remote_code: a flow parameter cannot switch it on; use `grpo-ops` on a local file")
    if faults:
        raise SpecError(spec.name, faults)


def tag_this_flow_run(key: str) -> None:
    """Tag the present flow run with the run_key (or study), so that it is found from the other systems."""
    flow_run = FlowRunContext.get()
    assert flow_run is not None and flow_run.flow_run is not None
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.flow_run.id, tags=sorted({*flow_run.flow_run.tags, f"run_key:{key}"}))


def under_a_worker() -> bool:
    """Whether Prefect's runner started this process for a flow run."""
    return "PREFECT__FLOW_RUN_ID" in os.environ

"""What a flow checks before it starts: a caller of the API may not name code to run."""

from contextvars import ContextVar

from prefect import get_client
from prefect.context import FlowRunContext

from grpo_ops.errors import SpecError
from grpo_ops.preflight import code_named_by, examine, examine_sweep
from grpo_ops.specs import RunSpec, SweepSpec

#: Set where the spec is a file on this machine, read by whoever starts the flow here: it may name code.
FROM_LOCAL_FILE: ContextVar[bool] = ContextVar("from_local_file", default=False)


def refuse_faults(spec: RunSpec | SweepSpec) -> None:
    """Pre-flight for a spec that came as a parameter. Raises SpecError with every fault.

    An import path as a reward, or a model's own code, is code that the caller chooses: from a local file only.
    """
    is_local = FROM_LOCAL_FILE.get()
    faults = [] if is_local else list(code_named_by(spec))
    if isinstance(spec, SweepSpec):
        findings = examine_sweep(spec, allow_import_paths=is_local)
    else:
        findings = examine(spec, allow_import_paths=is_local)
    faults += findings.faults
    for warning in findings.warnings:
        print(f"warning: {warning}")
    if faults:
        raise SpecError(spec.name, list(dict.fromkeys(faults)))


def tag_this_flow_run(key: str) -> None:
    """Tag the present flow run with the run_key (or study), so that it is found from the other systems."""
    context = FlowRunContext.get()
    assert context is not None and context.flow_run is not None
    with get_client(sync_client=True) as client:
        client.update_flow_run(context.flow_run.id, tags=sorted({*context.flow_run.tags, f"run_key:{key}"}))

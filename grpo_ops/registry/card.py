"""A version's description: what it is, how good, where from, how to load it (markdown)."""

from collections.abc import Iterator

from grpo_ops.registry.types import Candidate, Champion
from grpo_ops.specs import PromotionSpec
from grpo_ops.tracking.note import forecast_words, law_words

_LOADING = """```python
from peft import PeftModel
from transformers import AutoModelForCausalLM
from grpo_ops.home import Home
from grpo_ops.registry import load_champion

loaded = load_champion("{model}", home=Home.here())   # the files, checked, in a folder
base = AutoModelForCausalLM.from_pretrained("{base}")
model = PeftModel.from_pretrained(base, loaded.path)
```

vLLM: `python -m vllm.entrypoints.openai.api_server --model {base} --enable-lora --lora-modules {model}=FOLDER`"""

_LOADING_FULL = """```python
from transformers import AutoModelForCausalLM
from grpo_ops.home import Home
from grpo_ops.registry import load_champion

model = AutoModelForCausalLM.from_pretrained(load_champion("{model}", home=Home.here()).path)
```"""


def card(spec: PromotionSpec, candidate: Candidate, champion: Champion | None) -> str:
    """Markdown for the version's description."""
    what = f"A LoRA adapter of `{candidate.base.id}`" if candidate.is_adapter else f"Weights from `{candidate.base.id}`"
    head = f"{what}, trained with GRPO: step {candidate.step} of run `{candidate.run_key}` (study `{candidate.study}`)."
    rows = "\n".join(f"| {name} | {value} |" for name, value in _rows(candidate, champion))
    template = _LOADING if candidate.is_adapter else _LOADING_FULL
    loading = template.format(model=spec.model, base=candidate.base.path or candidate.base.id)
    return f"{head}\n\n| | |\n|---|---|\n{rows}\n\n**Loading**\n\n{loading}"


def _rows(candidate: Candidate, champion: Champion | None) -> Iterator[tuple[str, str]]:
    yield "held-out evaluation", str(candidate.score)
    if candidate.baseline is not None:
        yield "before training", f"{candidate.baseline:.3f}"
    if champion is not None and champion.score is not None:
        yield f"champion before (version {champion.version})", str(champion.score)
    yield "run", f"{candidate.ending}: {candidate.reason}".replace("|", "\\|")
    yield "base", f"{candidate.base.id}, {_seal(candidate)}"
    if candidate.law.get("law"):
        yield "law", law_words(candidate.law)
    if candidate.law.get("forecast"):
        yield "forecast", forecast_words(candidate.law["forecast"])
    if candidate.outcome is not None:
        yield "training reward at the end", f"{candidate.outcome:.3f}"


def _seal(candidate: Candidate) -> str:
    base = candidate.base
    return f"sha256 {base.hash}" if base.hash else f"revision {base.revision or 'not pinned'}"

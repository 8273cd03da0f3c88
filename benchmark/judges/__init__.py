"""Judges of latents. A new one is one module here and one line in ``JUDGES``."""

from benchmark.judges.base import Example, Judge
from benchmark.judges.options import JudgeContext, JudgeOptions
from benchmark.registry import Registry

JUDGES = Registry(
    "judge",
    {
        "annotations": "benchmark.judges.annotations:make",
        "random": "benchmark.judges.random_judge:make",
        "openai": "benchmark.judges.openai_chat:make",
        "transformers": "benchmark.judges.transformers_chat:make",
    },
)

__all__ = ["JUDGES", "Example", "Judge", "JudgeContext", "JudgeOptions", "load_judge"]


def load_judge(name: str, options: JudgeOptions, context: JudgeContext) -> Judge:
    """The judge registered as ``name``, ready to be asked.

    ``identity()`` of a judge has ``kind``, ``model`` (or None), ``settings``, and ``prompts``: None
    or their ``version`` and ``sha256``.

    Raises:
        UserError: an unknown name (listing the known ones), or options that it cannot work with.
    """
    judge: Judge = JUDGES.load(name)(options, context)
    return judge

"""From an SAE on prepared features to a judgement document."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.judges import JudgeContext, JudgeOptions, load_judge
from benchmark.judges.base import Judge
from benchmark.judges.document import judgement_document
from benchmark.judges.protocol import JudgeProtocol
from benchmark.judges.run import Progress, Sample, draw_sample, judge_latents
from benchmark.judges.sources import ExampleSource, kind_of, source_for
from benchmark.runs import Prepared
from benchmark.saes import Sae


@dataclass(frozen=True)
class Plan:
    """What is about to be asked.

    Attributes:
        judge: who is asked.
        sample: of which latents.
        source, kind: what is shown: rows, ``"image"`` or ``"text"``.
    """

    judge: Judge
    sample: Sample
    source: ExampleSource
    kind: str


def judge_prepared(
    sae: Sae,
    submission: Mapping[str, Any],
    prepared: Prepared,
    name: str,
    options: JudgeOptions | None = None,
    protocol: JudgeProtocol | None = None,
    *,
    agree: Callable[[Plan], None] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The judgement of one SAE on the score split, as ``schemas/judge.schema.json`` has it.

    Args:
        sae, submission, prepared: as for a result record.
        name: of the judge, as registered.
        options: how it is asked.
        protocol: the choices to follow.
        agree: called before anything is asked; what it raises stops the run.
        progress: called with (latents done, latents).

    Raises:
        UserError: an unknown judge, options it cannot work with, or a dataset of which there is
            nothing to show.
    """
    started = time.time()
    options, protocol = options or JudgeOptions(), protocol or JudgeProtocol()
    dataset = prepared.dataset
    kind, rows = kind_of(dataset), dataset.split("score")
    source = source_for(dataset, rows)
    context = JudgeContext(source.ids, kind, dataset.concepts, dataset.annotations[rows])
    judge = load_judge(name, options, context)
    try:
        codes = sae.encode(prepared.features["score"])
        sample = draw_sample(codes, source, protocol)
        if agree is not None:
            agree(Plan(judge, sample, source, kind))
        judgement = judge_latents(codes, source, judge, protocol, progress, sample)
    finally:
        if (close := getattr(judge, "close", None)) is not None:  # a transcript is held open
            close()
    return judgement_document(
        judgement,
        judge,
        source,
        kind=kind,
        submission=submission,
        dataset=prepared.source.dataset,
        encoder=prepared.source.encoder,
        started=started,
    )

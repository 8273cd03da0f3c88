"""The report card of one SAE as a document of its own."""

import time
from collections.abc import Mapping
from typing import Any

from benchmark.card import report_card
from benchmark.measure import Protocol, encode_all, measure_sae
from benchmark.records import environment, timing
from benchmark.runs import Prepared
from benchmark.saes import Sae
from benchmark.text.dataset import TextDataset
from benchmark.text.logit_effect import add_logit_effect


def card_prepared(
    sae: Sae,
    submission: Mapping[str, Any],
    prepared: Prepared,
    protocol: Protocol | None = None,
    *,
    model: str | None = None,
) -> dict[str, Any]:
    """The report card of one SAE on prepared features, as ``schemas/card.schema.json`` has it.

    On text activations listed sharded pairs get their logit effect; ``model`` is the folder or Hub
    id of the language model, by default where it was when the activations were collected.
    """
    protocol = protocol or Protocol()
    started = time.time()
    codes = encode_all(sae, prepared.features)
    measured = measure_sae(sae, prepared.features, prepared.labels, protocol, codes)
    card = report_card(
        sae, prepared.features["score"], codes["score"], prepared.labels, measured, protocol
    )
    choices = protocol.as_dict()
    if isinstance(prepared.dataset, TextDataset):
        choices |= add_logit_effect(card, sae, prepared.dataset, model)
    return {
        "schema_version": 1,
        "submission": dict(submission),
        "dataset": dict(prepared.source.dataset),
        "encoder": dict(prepared.source.encoder),
        "protocol": choices,
        "card": card,
        "environment": environment(),
        "timing": timing(started),
    }

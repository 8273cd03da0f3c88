"""The report card of one SAE as a document of its own."""

import time
from collections.abc import Mapping
from typing import Any

from benchmark.card import report_card
from benchmark.measure import Protocol, encode_all, measure_sae
from benchmark.records import environment, timing
from benchmark.runs import Prepared
from benchmark.saes import Sae


def card_prepared(
    sae: Sae,
    submission: Mapping[str, Any],
    prepared: Prepared,
    protocol: Protocol | None = None,
) -> dict[str, Any]:
    """The report card of one SAE on prepared features, as ``schemas/card.schema.json`` has it."""
    protocol = protocol or Protocol()
    started = time.time()
    codes = encode_all(sae, prepared.features)
    measured = measure_sae(sae, prepared.features, prepared.labels, protocol, codes)
    card = report_card(
        sae, prepared.features["score"], codes["score"], prepared.labels, measured, protocol
    )
    return {
        "schema_version": 1,
        "submission": dict(submission),
        "dataset": dict(prepared.source.dataset),
        "encoder": dict(prepared.source.encoder),
        "protocol": protocol.as_dict(),
        "card": card,
        "environment": environment(),
        "timing": timing(started),
    }

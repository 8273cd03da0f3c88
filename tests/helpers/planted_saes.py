"""Planted truth without noise, and what the suite measures of an SAE on it."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmark.card_runs import card_prepared
from benchmark.datasets.planted import PlantedDataset, Recipe, plant
from benchmark.measure import Measurement, Protocol, encode_all, measure_sae
from benchmark.runs import Prepared, prepare_activations
from benchmark.saes import Sae

PROTOCOL = Protocol(bootstrap_resamples=100)
SUBMISSION = {"id": "x", "name": "X", "architecture": "relu", "d_in": 24, "d_sae": 20}


@dataclass(frozen=True)
class Truth:
    """A small planted dataset, ready for SAEs."""

    data: PlantedDataset
    prepared: Prepared

    def codes(self, sae: Sae, part: str = "score") -> Any:
        return encode_all(sae, self.prepared.features)[part]

    def measure(self, sae: Sae) -> Measurement:
        return measure_sae(sae, self.prepared.features, self.prepared.labels, PROTOCOL)

    def card(self, sae: Sae) -> dict[str, Any]:
        return self.document(sae)["card"]

    def document(self, sae: Sae) -> dict[str, Any]:
        return card_prepared(sae, SUBMISSION, self.prepared, PROTOCOL)


@cache
def truth() -> Truth:
    """20 orthonormal features in 24 dimensions, 4 on in each row, no noise."""
    data = plant(
        Recipe(features=20, width=24, sparsity=4, noise=0, match=500, score=300, pairs=120)
    )
    return Truth(data, prepare_activations(data))

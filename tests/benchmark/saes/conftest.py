"""Fixtures of the SAE tests."""

import numpy as np
import pytest
from small_saes import build, rules

from benchmark.saes import Sae


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(params=sorted(rules()))
def sae(request) -> Sae:
    return build(rules()[request.param])

"""Every example in a metric's docstring runs and gives what it says."""

import doctest
import importlib
import pkgutil

import benchmark.metrics


def test_docstring_examples():
    ran = 0
    for module in pkgutil.iter_modules(benchmark.metrics.__path__):
        loaded = importlib.import_module(f"benchmark.metrics.{module.name}")
        result = doctest.testmod(loaded)
        assert result.failed == 0, module.name
        ran += result.attempted
    assert ran >= 8

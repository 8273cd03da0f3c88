"""Every example in a docstring of the generative track runs and gives what it says."""

import doctest
import importlib
import pkgutil

import benchmark.generative


def test_docstring_examples():
    ran = 0
    for module in pkgutil.iter_modules(benchmark.generative.__path__):
        result = doctest.testmod(importlib.import_module(f"benchmark.generative.{module.name}"))
        assert result.failed == 0, module.name
        ran += result.attempted
    assert ran >= 8

"""Builders of the datasets that the benchmark scores on."""

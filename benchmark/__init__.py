"""Scoring harness: datasets, encoders, SAEs, metrics, result records and the command line."""

__version__ = "0.1.0"

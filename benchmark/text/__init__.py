"""Activations of a language model on a text, as a dataset: ``assay text collect``."""

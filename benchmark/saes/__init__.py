"""Sparse autoencoders: loading, encoding, reference training, untrained twins."""

from benchmark.saes.formats import load_sae
from benchmark.saes.sae import Sae

__all__ = ["Sae", "load_sae"]

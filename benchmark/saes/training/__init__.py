"""Training of reference SAEs by the concept-annotation paper's recipe."""

from benchmark.saes.training.loop import train
from benchmark.saes.training.recipe import ARCHITECTURES, Recipe

__all__ = ["ARCHITECTURES", "Recipe", "train"]

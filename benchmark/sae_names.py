"""What the libraries that write SAEs call our architectures; read with torch and without."""

SAELENS = {
    "standard": "relu",
    "batchtopk": "batchtopk",
    "matryoshka_batchtopk": "matryoshka",
    "topk": "topk",
    "jumprelu": "jumprelu",
    "gated": "gated",
}
SAELENS_LOADED = ("standard", "topk", "batchtopk", "jumprelu", "gated")
"""Those that a SAELens configuration names; the others stand in its metadata alone."""
DICTIONARY_LEARNING = {
    "AutoEncoder": "relu",
    "AutoEncoderNew": "relu",
    "GatedAutoEncoder": "gated",
    "AutoEncoderTopK": "topk",
    "BatchTopKSAE": "batchtopk",
    "MatryoshkaBatchTopKSAE": "matryoshka",
    "JumpReluAutoEncoder": "jumprelu",
}
BARE = {
    "vanilla": "relu",
    "standard": "relu",
    "relu": "relu",
    "topk": "topk",
    "batchtopk": "batchtopk",
    "jumprelu": "jumprelu",
    "matryoshka": "matryoshka",
    "global-matryoshka-topk": "matryoshka",
}

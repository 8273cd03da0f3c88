"""``python -m generation.tiny_clip --out FILE``: make the weights of ``assay-tiny-clip``.

Without other options these are the published ones, byte for byte on one kind of processor with the
same versions of PyTorch and of the avatars' packages. JSON of its quality goes beside the file, and
the table of the card is printed. About 11 minutes of processor time, most of it on two threads.
"""

import argparse
import os
import time
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

IMAGES = 6000
HELD_OUT = 600
THREADS = 2
"""Of PyTorch, whatever the machine has: they decide how sums are split, hence the last bits."""


def main() -> None:
    """Draw the avatars, train, write the weights and print their hash and quality."""
    import torch

    from benchmark.files import file_sha256, write_json
    from benchmark.generative.tiny_clip import load_file, save
    from benchmark.generative.tiny_clip.network import Shape
    from generation.tiny_clip.data import SIDE, avatars
    from generation.tiny_clip.quality import quality, table
    from generation.tiny_clip.train import Recipe, train, vocabulary

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="safetensors file to write")
    parser.add_argument("--images", type=int, default=IMAGES, help="avatars to train on")
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    torch.set_num_threads(THREADS)
    start = time.monotonic()

    def report(step: int, whole: float, local: float) -> None:
        passed = time.monotonic() - start
        print(f"step {step:5}  whole {whole:.4f}  local {local:.4f}  {passed:6.0f} s", flush=True)

    drawn = avatars(given.images, given.seed, workers=given.workers)
    print(f"{given.images} avatars drawn in {time.monotonic() - start:.0f} s", flush=True)
    start = time.monotonic()
    model = train(drawn, Recipe(steps=given.steps, seed=given.seed), report)
    save(given.out, model, vocabulary(), asdict(Shape(side=SIDE)))
    held_out = avatars(HELD_OUT, given.seed + 1, workers=given.workers)
    rows = quality(load_file(given.out, name="assay-tiny-clip"), held_out)
    write_json(given.out.with_suffix(".json"), rows)
    print(table(rows))
    print(f"{given.out}: {given.out.stat().st_size:,} bytes, SHA-256 {file_sha256(given.out)}")


if __name__ == "__main__":
    main()

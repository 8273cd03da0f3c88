"""Sets of any size stream: memory grows by the numbers kept of an image, not by images or maps."""

import os
import subprocess
import sys
from pathlib import Path

HELPERS = Path(__file__).resolve().parents[2] / "helpers"
FEW, MANY = 400, 1600
MOST_PER_IMAGE = 7_000
"""Bytes. A decoded image has 19,200 here, its maps have 12,300."""


def test_memory_does_not_grow_with_the_images(tmp_path: Path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, HELPERS / "image_stream.py", str(count), tmp_path / str(count)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1"},
        )
        for count in (FEW, MANY)
    ]
    peaks = [int(one.communicate()[0]) for one in running]
    assert [one.returncode for one in running] == [0, 0]
    per_image = (peaks[1] - peaks[0]) / (2 * (MANY - FEW))
    assert per_image < MOST_PER_IMAGE, f"{per_image:,.0f} bytes an image"
    print(f"{per_image:,.0f} bytes an image; 2 x 50,000 images would add "
          f"{per_image * 1e5 / 2**20:,.0f} MiB to {peaks[0] / 2**20:,.0f}")  # fmt: skip

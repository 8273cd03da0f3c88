"""What a browser is given: original bytes where it knows them, and a difference one can read."""

import io
import socket

import numpy as np
import pytest
from edit_work import draw_bird, encoded, log_edit, make_work
from PIL import Image

from benchmark.images import read_image
from generation.reviewing.pictures import difference_file, shown
from generation.reviewing.queue import reviewable
from generation.reviewing.server import listening
from generation.work import base_bytes, open_source


def saved(image: Image.Image, kind: str) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **({"lossless": True} if kind == "WEBP" else {}))
    return stream.getvalue()


@pytest.mark.parametrize(("kind", "same"), [("PNG", True), ("JPEG", True), ("WEBP", False)])
def test_originals_go_out_as_they_are(kind: str, same: bool) -> None:
    data = saved(draw_bird(1, ()), kind)
    file = shown(data, "x")
    assert (file.content == data) == same
    assert file.media_type == ("image/jpeg" if kind == "JPEG" else "image/png")
    assert np.array_equal(np.asarray(read_image(file.content)), np.asarray(read_image(data)))


def test_the_difference_tells_the_edit_from_the_rest(tmp_path) -> None:
    work = make_work(tmp_path, 1, count=20)
    source, edit = open_source(work), work.plan.edits[0]
    pixels = np.asarray(read_image(base_bytes(source, edit.base))).copy()
    pixels[24:42, 34:50] = 255 - pixels[24:42, 34:50]  # the wing, strongly
    pixels[:8, :20] = np.clip(pixels[:8, :20].astype(int) - 60, 0, 255)  # a corner, less
    log_edit(work, edit, encoded(Image.fromarray(pixels)))
    item = reviewable(work)[edit.id]
    file = difference_file(work, source, item)
    found = np.asarray(read_image(file.content).resize((64, 64))).astype(int)
    blue = found[..., 2] - found[..., 0]
    assert blue[33, 42] > 60
    assert blue[3, 8] < -60
    # what did not change is grey
    assert np.abs(blue[56:, :]).max() <= 2


def test_the_server_listens_on_this_machine_only() -> None:
    with listening(0) as taken:
        address, port = taken.getsockname()
        assert address == "127.0.0.1"
        with socket.socket() as other, pytest.raises(OSError, match=r"refused|unreachable"):
            # any other address of this machine, of which 127.0.0.2 is always one
            other.connect(("127.0.0.2", port))

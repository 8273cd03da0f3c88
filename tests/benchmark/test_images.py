import contextlib
import io
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from benchmark import images
from benchmark.errors import UserError
from benchmark.images import ImageReadError, read_image, read_images

CASES = Path(__file__).parents[3] / "shared" / "cases" / "images"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not here")


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def pixels(data: bytes | Path) -> np.ndarray:
    image = read_image(data)
    assert image.mode == "RGB"
    return np.asarray(image)


def ramp(height: int = 4, width: int = 6) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


# Four corners of the shared test picture, and the same turned by its EXIF orientation.
PLAIN = np.asarray(Image.open(CASES / "plain_rgb.png")) if CASES.is_dir() else np.zeros((1, 1, 3))


@needs_cases
@pytest.mark.parametrize("name", ["plain_rgb.png", "UPPER.PNG", "ünïcode 鳥.png"])
def test_plain_cases_are_read_exactly(name: str) -> None:
    assert (pixels(CASES / name) == PLAIN).all()
    assert pixels(CASES / name)[0, 0].tolist() == [220, 40, 40]


@needs_cases
def test_one_pixel_case() -> None:
    assert pixels(CASES / "one_pixel.png").tolist() == [[[255, 0, 0]]]


@needs_cases
def test_grayscale_case_repeats_its_channel() -> None:
    found = pixels(CASES / "grayscale.jpg")
    assert found[0, 0].tolist() == [94, 94, 94]
    assert (found == found[..., :1]).all()


@needs_cases
def test_cmyk_case_has_the_colours_of_the_plain_one() -> None:
    assert np.abs(pixels(CASES / "cmyk.jpg").astype(int) - PLAIN).max() <= 40
    assert pixels(CASES / "cmyk.jpg")[0, 0].tolist() == [220, 40, 40]


@needs_cases
def test_exif_case_is_turned() -> None:
    found = pixels(CASES / "exif_orientation_6.jpg")
    assert found.shape == (96, 64, 3)
    # The stored top left becomes the top right.
    assert np.abs(found[0, -1].astype(int) - [220, 40, 41]).max() <= 1


@needs_cases
def test_16_bit_case_keeps_its_range() -> None:
    stored = np.asarray(Image.open(CASES / "gray16.png")).astype(np.int64)
    found = pixels(CASES / "gray16.png")
    assert stored.max() == 65535
    assert (found[..., 0] == np.round(stored / 257)).all()
    assert (found.min(), found.max()) == (0, 255)


@needs_cases
def test_transparent_case_is_white_where_it_is_clear() -> None:
    found = pixels(CASES / "transparent_quarter.png")
    assert found[0, 0].tolist() == [255, 255, 255]
    assert found[-1, -1].tolist() == [40, 200, 60]


@needs_cases
@pytest.mark.parametrize(
    ("name", "reason"),
    [("truncated.png", "truncated"), ("empty_file.png", "empty"), ("notes.txt", "not a picture")],
)
def test_unreadable_cases_name_the_file(name: str, reason: str) -> None:
    with pytest.raises(ImageReadError, match=reason) as caught:
        read_image(CASES / name)
    assert str(CASES / name) in str(caught.value)
    assert "\n" not in str(caught.value)


@needs_cases
def test_skipping_counts_what_it_skips() -> None:
    paths = sorted(CASES.iterdir())
    reader = read_images(paths, on_error="skip")
    read = list(reader)
    bad = {"truncated.png", "empty_file.png", "notes.txt"}
    assert len(reader.skipped) == 3
    assert {paths[index].name for index, _ in read} == {path.name for path in paths} - bad
    assert len(list(reader)) == len(read)
    assert len(reader.skipped) == 3


@pytest.mark.parametrize("orientation", range(1, 9))
def test_all_exif_orientations(orientation: int) -> None:
    expected = ramp()
    # What a camera would store so that turning it by its orientation gives ``expected``.
    stored = {
        1: expected,
        2: expected[:, ::-1],
        3: expected[::-1, ::-1],
        4: expected[::-1],
        5: expected.transpose(1, 0, 2),
        6: expected.transpose(1, 0, 2)[::-1],
        7: expected.transpose(1, 0, 2)[::-1, ::-1],
        8: expected.transpose(1, 0, 2)[:, ::-1],
    }[orientation]
    image = Image.fromarray(np.ascontiguousarray(stored))
    exif = Image.Exif()
    exif[0x0112] = orientation
    assert (pixels(saved(image, exif=exif)) == expected).all()
    assert (pixels(saved(image, "TIFF", exif=exif)) == expected).all()


def test_broken_exif_does_not_lose_the_picture() -> None:
    data = saved(Image.fromarray(ramp()), "JPEG", exif=b"Exif\x00\x00II*\x00\xff\xff\xff\x7f")
    assert pixels(data).shape == (4, 6, 3)


@pytest.mark.parametrize("value", [0, 1, 128, 129, 257, 32768, 65534, 65535])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_16_bit_gray_is_rounded_over_its_full_range(value: int, kind: str) -> None:
    image = Image.fromarray(np.full((3, 2), value, dtype=np.uint16))
    assert (pixels(saved(image, kind)) == round(value / 257)).all()


def test_big_endian_16_bit_tiff() -> None:
    values = np.array([[0, 257], [32768, 65535]], dtype=">u2")
    image = Image.frombytes("I;16B", (2, 2), values.tobytes())
    assert pixels(saved(image, "TIFF"))[..., 0].tolist() == [[0, 1], [128, 255]]


def test_32_bit_gray_within_16_bits_is_read_and_beyond_is_refused() -> None:
    inside = Image.fromarray(np.array([[0, 65535]], dtype=np.int32))
    assert pixels(saved(inside, "TIFF"))[0, :, 0].tolist() == [0, 255]
    beyond = Image.fromarray(np.array([[0, 65536]], dtype=np.int32))
    with pytest.raises(ImageReadError, match="65536"):
        read_image(saved(beyond, "TIFF"))


def test_floating_point_pixels_are_refused() -> None:
    data = saved(Image.fromarray(np.zeros((2, 2), dtype=np.float32)), "TIFF")
    with pytest.raises(ImageReadError, match="floating-point"):
        read_image(data)


def png_16_bit(colour: int, samples: list[int]) -> bytes:
    """A one-pixel PNG of 16 bits a sample, which Pillow reads and does not write."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", 1, 1, 16, colour, 0, 0, 0)
    row = b"\x00" + struct.pack(f">{len(samples)}H", *samples)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_16_bit_colour_keeps_its_range() -> None:
    assert pixels(png_16_bit(2, [65535, 32768, 0])).tolist() == [[[255, 128, 0]]]
    assert pixels(png_16_bit(6, [65535, 32768, 0, 65535])).tolist() == [[[255, 128, 0]]]
    assert pixels(png_16_bit(6, [65535, 32768, 0, 0])).tolist() == [[[255, 255, 255]]]
    assert pixels(png_16_bit(4, [0, 0])).tolist() == [[[255, 255, 255]]]
    assert pixels(png_16_bit(4, [0, 65535])).tolist() == [[[0, 0, 0]]]


@pytest.mark.parametrize(("alpha", "expected"), [(0, 255), (255, 10), (128, 132)])
def test_alpha_is_composited_on_white(alpha: int, expected: int) -> None:
    colour = Image.new("RGBA", (2, 2), (10, 10, 10, alpha))
    gray = Image.new("LA", (2, 2), (10, alpha))
    for data in (saved(colour), saved(gray), saved(colour, "TIFF")):
        assert np.abs(pixels(data).astype(int) - expected).max() <= 1


def test_palette_with_transparency() -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([200, 0, 0, 0, 200, 0])
    image.putpixel((1, 0), 1)
    assert pixels(saved(image)).tolist() == [[[200, 0, 0], [0, 200, 0]]]
    one = saved(image, transparency=1)
    assert pixels(one).tolist() == [[[200, 0, 0], [255, 255, 255]]]
    both = saved(image, transparency=bytes([0, 255]))
    assert pixels(both).tolist() == [[[255, 255, 255], [0, 200, 0]]]


def test_colour_key_transparency() -> None:
    image = Image.fromarray(np.array([[[1, 2, 3], [4, 5, 6]]], dtype=np.uint8))
    assert pixels(saved(image, transparency=(1, 2, 3))).tolist() == [[[255] * 3, [4, 5, 6]]]
    gray = Image.fromarray(np.array([[7, 8]], dtype=np.uint8))
    assert pixels(saved(gray, transparency=7)).tolist() == [[[255] * 3, [8] * 3]]


def test_one_bit() -> None:
    image = Image.fromarray(np.array([[True, False]]))
    assert pixels(saved(image)).tolist() == [[[255] * 3, [0] * 3]]


def test_animation_gives_its_first_frame() -> None:
    frames = [Image.new("RGB", (3, 3), colour) for colour in ("#ff0000", "#00ff00")]
    for kind in ("GIF", "PNG", "WEBP"):
        options = {"lossless": True} if kind == "WEBP" else {}
        data = saved(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        assert pixels(data)[0, 0].tolist() == [255, 0, 0], kind


def test_cmyk_with_and_without_adobe_marker() -> None:
    colour = Image.new("RGB", (16, 16), (220, 40, 40))
    inks = 255 - np.asarray(colour)
    cmyk = Image.fromarray(np.dstack([inks, np.zeros((16, 16), np.uint8)]), "CMYK")
    adobe = saved(cmyk, "JPEG", quality=100)
    assert np.abs(pixels(adobe).astype(int) - [220, 40, 40]).max() <= 2
    assert np.abs(pixels(saved(cmyk, "TIFF")).astype(int) - [220, 40, 40]).max() <= 2
    # Without the marker the same samples are ink as it is: stored inverted, they read inverted.
    start = adobe.index(b"\xff\xee")
    length = struct.unpack(">H", adobe[start + 2 : start + 4])[0]
    plain = adobe[:start] + adobe[start + 2 + length :]
    inverted = Image.fromarray(255 - np.asarray(cmyk), "CMYK").convert("RGB")
    assert np.abs(pixels(plain).astype(int) - np.asarray(inverted)).max() <= 2


def test_missing_file_and_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.png", tmp_path):
        with pytest.raises(ImageReadError, match=str(path)):
            read_image(path)
    assert issubclass(ImageReadError, UserError)


def test_bytes_can_be_given_a_name() -> None:
    with pytest.raises(ImageReadError, match="row 7: not a picture"):
        read_image(b"nothing", name="row 7")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_every_cut_is_an_error_or_a_picture_and_never_a_traceback(kind: str) -> None:
    data = saved(Image.fromarray(ramp(40, 40)), kind)
    for size in range(0, len(data) - 200, max(1, len(data) // 40)):
        with pytest.raises(ImageReadError):
            read_image(data[:size])


@pytest.mark.parametrize("seed", range(60))
def test_flipped_bytes_never_raise_anything_else(seed: int) -> None:
    random = np.random.default_rng(seed)
    kind = ["PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"][seed % 6]
    data = np.frombuffer(saved(Image.fromarray(ramp(20, 20)), kind), np.uint8).copy()
    places = random.integers(0, len(data), 5)
    data[places] = random.integers(0, 256, 5)
    with contextlib.suppress(ImageReadError):
        assert read_image(data.tobytes()).mode == "RGB"


def test_pixels_are_counted_before_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def decoded(self: ImageFile.ImageFile) -> None:
        raise AssertionError("decoded")

    data = saved(Image.new("1", (20_000, 20_000)))
    monkeypatch.setattr(ImageFile.ImageFile, "load", decoded)
    with pytest.raises(ImageReadError, match="pixels, the limit"):
        read_image(data)


def test_moderately_large_pictures_are_refused_with_their_size() -> None:
    with pytest.raises(ImageReadError, match="9000 x 9000, more than 67,108,864 pixels"):
        read_image(saved(Image.new("1", (9000, 9000))))


def test_large_files_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(images, "MAX_BYTES", 100)
    path = tmp_path / "large.png"
    path.write_bytes(saved(Image.fromarray(ramp(20, 20))))
    with pytest.raises(ImageReadError, match="the limit"):
        read_image(path)


def test_programs_in_pictures_are_not_run() -> None:
    with pytest.raises(ImageReadError, match="not a picture"):
        read_image(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EOF\n")


def test_reading_many_stops_at_the_first_error_by_default() -> None:
    good = saved(Image.fromarray(ramp()))
    reader = iter(read_images([good, b"bad", good]))
    assert next(reader)[0] == 0
    with pytest.raises(ImageReadError):
        next(reader)
    assert [index for index, _ in read_images([good, b"bad", good], on_error="skip")] == [0, 2]
    with pytest.raises(ValueError, match="on_error"):
        read_images([], on_error="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_colours_of_cmyk_do_not_depend_on_the_orientation(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    adobe = saved(Image.new("CMYK", (16, 8), (0, 255, 255, 0)), "JPEG", exif=exif)
    start = adobe.index(b"\xff\xee")
    length = struct.unpack(">H", adobe[start + 2 : start + 4])[0]
    plain = adobe[:start] + adobe[start + 2 + length :]
    assert pixels(adobe)[2, 2].tolist() == [255, 0, 0]
    assert pixels(plain)[2, 2].tolist() == [0, 0, 0]
    assert pixels(plain).shape == ((8, 16, 3) if orientation < 5 else (16, 8, 3))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(ImageReadError, match=r"^cannot read image \S+pipe\.png: a pipe, device"):
        read_image(tmp_path / "pipe.png")

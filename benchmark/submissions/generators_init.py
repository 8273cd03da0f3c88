"""A new submission of a generator: its images packed, or its model and prompts written down."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import file_sha256, replacing_dir, write_json
from benchmark.submissions.documents import DOCUMENT, examined
from benchmark.submissions.folders import MAX_FOLDER
from benchmark.submissions.make import author_of, new_folder, training_of
from benchmark.submissions.problems import refuse

IMAGES = "images.parquet"
_MOST_PROMPT_BYTES = 2**20


@dataclass(frozen=True)
class Drawing:
    """How the suite draws with a model.

    Attributes:
        prompts: text file, one prompt a line.
        count: images a prompt.
        seed: of the first image; each next one has the next seed.
        steps, guidance, width, height: as the model takes them.
        pipeline: class of diffusers; None for the model's own.
    """

    prompts: Path
    count: int
    seed: int
    steps: int
    guidance: float
    width: int
    height: int
    pipeline: str | None = None


def write_generator(
    source: str,
    root: Path,
    *,
    identifier: str,
    name: str,
    authors: Sequence[str],
    licence: str,
    trained_on: Sequence[str],
    real: str,
    drawing: Drawing | None = None,
    force: bool = False,
) -> tuple[Path, dict[str, Any]]:
    """Write ``root/generators/<id>`` at once; the folder and its document.

    Args:
        source: folder of pictures, Parquet file of pictures, or OWNER/NAME[/FOLDER]@REVISION of a
            Hub dataset; with ``drawing`` OWNER/NAME@REVISION of a model.
        root: folder of all submissions.
        identifier, name, licence, real: as in the document.
        authors: each ``NAME``, ``NAME <https://…>`` or ``NAME <ORCID>``.
        trained_on: each ``DATASET:SPLIT[,SPLIT…]``.
        drawing: for a model that the suite runs.
        force: replace a folder that is there; one with results never is.

    Raises:
        UserError: answers that the rules refuse, a folder that is there, images that cannot be
            read or are too large for it. Nothing is written.
    """
    folder = new_folder(root, "generators", identifier, force=force)
    document = {
        "schema_version": 1,
        "id": identifier,
        "name": name,
        "authors": [author_of(text) for text in authors],
        "licence": licence,
        "real": real,
        "training_data": [training_of(text) for text in trained_on],
    }
    with replacing_dir(folder) as new:
        document["generator"] = (
            _images(source, new / IMAGES) if drawing is None else _model(source, drawing)
        )
        write_json(new / DOCUMENT, document)
        _refuse_faulty(new, document)
    return folder, document


def _refuse_faulty(new: Path, document: dict[str, Any]) -> None:
    from benchmark.submissions.generators import validate_generator

    read = examined(document, "generators", document["id"], DOCUMENT)
    whole = {"generator", "real"} <= set(read.document)
    refuse((*read.problems, *validate_generator(new, read.parts, whole=whole)))


def _images(source: str, target: Path) -> dict[str, Any]:
    from benchmark.saes.hub import is_hub_id

    path = Path(source)
    if path.is_dir():
        _pack(path, target)
    elif path.is_file():
        _copy(path, target)
    elif is_hub_id(source):
        return {"kind": "images", **hub_images(source)}
    else:
        raise UserError(
            f"{source}: no such folder or file; expected pictures, a Parquet file of pictures, or "
            "OWNER/NAME@REVISION of a Hub dataset"
        )
    return {"kind": "images", "files": [{"path": IMAGES, "sha256": file_sha256(target)}]}


def _pack(root: Path, target: Path) -> None:
    """The pictures of a folder, in the order of their names, as one Parquet file."""
    from benchmark.generative.image_sets import FolderSet
    from benchmark.submissions.generators_images import write_images

    images = FolderSet.of(root)
    found, total = [], 0
    for place in range(len(images.ids)):
        found.append(images.encoded(place))
        total += len(found[-1])
        if total > MAX_FOLDER:
            raise _too_large(root, len(images.ids))
    write_images(target, found)
    if target.stat().st_size > MAX_FOLDER:
        raise _too_large(root, len(images.ids))


def _copy(path: Path, target: Path) -> None:
    if path.stat().st_size > MAX_FOLDER:
        raise _too_large(path, None)
    target.write_bytes(path.read_bytes())


def _too_large(place: Path, count: int | None) -> UserError:
    many = "" if count is None else f" of {count:,} pictures"
    return UserError(
        f"{place}: more than {MAX_FOLDER:,} bytes{many}; put them on the Hub as Parquet files and "
        "give OWNER/NAME@REVISION, or submit fewer or smaller pictures"
    )


def hub_images(source: str) -> dict[str, Any]:
    """``hub`` and ``files`` of a Hub dataset's Parquet files, as a submission names them.

    Args:
        source: OWNER/NAME[/FOLDER]@REVISION; without a folder the one that holds Parquet files.

    Raises:
        UserError: no full revision, no such place, no Parquet file or several folders with some.
    """
    from benchmark.submissions.generators_hub import parquet_files, place_of

    repo, folder, revision = place_of(source)
    files = parquet_files(repo, revision)
    folders = sorted({path.rpartition("/")[0] for path in files})
    if not folder and len(folders) > 1:
        raise UserError(
            f"{source}: Parquet files in {', '.join(each or '/' for each in folders[:5])}; choose "
            "one: OWNER/NAME/FOLDER@REVISION"
        )
    chosen = folder or (folders[0] if folders else "")
    found = {p: sha for p, sha in files.items() if p.rpartition("/")[0] == chosen}
    if not found:
        raise UserError(f"{source}: no Parquet file in folder {chosen or '/'!r}")
    return {
        "hub": {"repo": repo, "revision": revision, **({"folder": chosen} if chosen else {})},
        "files": [
            {"path": path.rpartition("/")[2], "sha256": sha} for path, sha in sorted(found.items())
        ],
    }


def _model(source: str, drawing: Drawing) -> dict[str, Any]:
    from benchmark.submissions.generators_hub import place_of

    repo, folder, revision = place_of(source)
    if folder:
        raise UserError(f"{source}: expected OWNER/NAME@REVISION of a model, without a folder")
    return {
        "kind": "diffusers",
        "repo": repo,
        "revision": revision,
        **({} if drawing.pipeline is None else {"pipeline": drawing.pipeline}),
        "prompts": [
            {"prompt": prompt, "count": drawing.count} for prompt in read_prompts(drawing.prompts)
        ],
        "seed": drawing.seed,
        "settings": {
            "steps": drawing.steps,
            "guidance": drawing.guidance,
            "width": drawing.width,
            "height": drawing.height,
        },
    }


def read_prompts(path: Path) -> Sequence[str]:
    """Prompts from a text file, one a line; blank lines are passed over."""
    try:
        if path.stat().st_size > _MOST_PROMPT_BYTES:
            raise UserError(f"{path}: larger than {_MOST_PROMPT_BYTES >> 20} MiB")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; expected one prompt a line") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not text in UTF-8; expected one prompt a line") from None
    prompts = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    if not prompts:
        raise UserError(f"{path}: no prompts; expected one a line")
    return prompts

"""The images of a submission that brings its own: from its folder, or from the Hub."""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.submissions.generators_images import (
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    ImageFile,
    ParquetSet,
    check_readable,
)


def given_images(
    folder: Path,
    document: Mapping[str, Any],
    home: Path,
    progress: Callable[[int, int], None] | None = None,
) -> ParquetSet:
    """The images that a submission names.

    Every file is checked against its hash before it is opened, and every picture is decoded once.

    Args:
        folder: of the submission.
        document: its ``submission.json``, of kind images.
        home: files of the Hub are kept below it.
        progress: called with pictures checked and all.

    Raises:
        UserError: a file that is missing, too large, another than stated or no file of pictures.
    """
    generator = document["generator"]
    hub = generator.get("hub")
    paths = _in_folder(folder, generator) if hub is None else _from_hub(generator, hub, home)
    files = []
    for entry, path in zip(generator["files"], paths, strict=True):
        label = f"{document['id']}: {entry['path']}"
        if (found := file_sha256(path)) != entry["sha256"]:
            raise UserError(
                f"{label}: SHA-256 {found}, but submission.json says {entry['sha256']}; expected "
                "the very file that was submitted"
            )
        files.append(ImageFile.of(path, label))
    images = ParquetSet(document["name"], files)
    for place in range(len(images.ids)):
        check_readable(images.encoded(place), images.describe(place))
        if progress is not None:
            progress(place + 1, len(images.ids))
    return images


def _in_folder(folder: Path, generator: Mapping[str, Any]) -> list[Path]:
    paths = [folder / entry["path"] for entry in generator["files"]]
    for path in paths:
        try:
            status = path.lstat()
        except OSError as error:
            raise UserError(
                f"{path}: {error.strerror}; submission.json names it, put it in the folder or name "
                "the Hub dataset that holds it"
            ) from None
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{path}: a link, folder or device; expected an ordinary file")
        _check_size(status.st_size, str(path))
    return paths


def _from_hub(generator: Mapping[str, Any], hub: Mapping[str, Any], home: Path) -> list[Path]:
    """Files of a Hub dataset at its full commit; sizes are known before anything is fetched."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import LocalEntryNotFoundError

    folder = f"{hub['folder']}/" if hub.get("folder") else ""
    place: dict[str, Any] = {
        "repo_id": hub["repo"],
        "repo_type": "dataset",
        "revision": hub["revision"],
    }
    kept: dict[str, Any] = {"cache_dir": home / "submissions" / "hub"}
    endpoint = os.environ.get("HF_ENDPOINT")
    found, missing, total = {}, [], 0
    try:
        for name in (folder + entry["path"] for entry in generator["files"]):
            try:
                found[name] = hf_hub_download(filename=name, **place, **kept, local_files_only=True)
            except LocalEntryNotFoundError:
                url = hf_hub_url(filename=name, **place, endpoint=endpoint)
                size = get_hf_file_metadata(url).size
                total += _check_size(size, f"{hub['repo']}: {name}")
                missing.append(name)
        if total > MAX_TOTAL_BYTES:
            raise UserError(
                f"{hub['repo']}: {total:,} bytes of images; expected at most {MAX_TOTAL_BYTES:,}"
            )
        for name in missing:
            found[name] = hf_hub_download(filename=name, **place, **kept, endpoint=endpoint)
    except UserError:
        raise
    # the client lets errors of its transport through, whatever library that is
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"dataset {hub['repo']} at {hub['revision']} cannot be fetched: {reason}"
        ) from None
    return [Path(found[folder + entry["path"]]) for entry in generator["files"]]


def _check_size(size: int | None, label: str) -> int:
    if size is None or size > MAX_FILE_BYTES:
        shown = "of unknown size" if size is None else f"{size:,} bytes"
        raise UserError(f"{label}: {shown}; expected at most {MAX_FILE_BYTES:,}")
    return size

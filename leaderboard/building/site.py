"""Building the site from records and submissions."""

import gc
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.errors import UserError
from benchmark.files import replacing_dir
from leaderboard.building.cache import Cache
from leaderboard.building.content import Sources, Tell, read_content
from leaderboard.building.pool import Pool
from leaderboard.building.templating import GENERATOR
from leaderboard.building.writing import Around, Release, Writer
from leaderboard.exports import write_sitemap
from leaderboard.frozen import freeze, load_releases
from leaderboard.frozen.reading import permalinks
from leaderboard.pages.citing import Citing
from leaderboard.ranking.changes import changes_since

if TYPE_CHECKING:
    from benchmark.datasets import Dataset


def build_site(
    results: Path | None,
    out: Path,
    *,
    submissions: Path | None = None,
    dataset: "Dataset | None" = None,
    gate: Path | None = None,
    sanity: Path | None = None,
    judgements: Path | None = None,
    sweep: Path | None = None,
    images: Path | None = None,
    releases: Path | None = None,
    base_url: str | None = None,
    repository: str | None = None,
    cache: Path | None = None,
    workers: int | None = None,
    tell: Tell | None = None,
) -> Path:
    """Write the whole site to ``out``; returns its index page.

    ``results`` is a folder of records that lie alone, ``submissions`` one of submissions; one of
    them may be None. ``dataset`` gives the pictures of edit pairs, where its licence and
    fingerprint allow it; ``gate`` is the gate file of a demo run, ``sanity`` a file that
    `assay sanity` wrote, ``judgements`` a folder of documents that `assay judge` wrote, ``sweep``
    the file of tables that `assay sweep` wrote, ``images`` the folder of a comparison that
    `assay images compare` wrote. ``releases`` is the folder of frozen releases, which the site
    holds under ``r/``; ``base_url`` the address it will have, for a sitemap, a feed and whole
    addresses in citations; ``repository`` that of the project, for those who want to add
    something. ``cache`` is a folder of what earlier builds made from the same
    bytes; without it nothing is kept. ``tell`` is called with one line where some judgements
    belong to no record, or records repeat a submission; these are left out.

    The same input gives the same bytes, whatever the cache and the number of ``workers``. ``out``
    is replaced as a whole, and only if it is absent, empty or an earlier site.

    Raises:
        UserError: a file that is absent or breaks its schema, or two that contradict each other.
    """
    out = Path(out)
    sources = Sources(results, submissions, gate, sanity, judgements, sweep, images)
    check_out(out, [folder for folder in (results, submissions) if folder is not None])
    with kept(cache) as store, Pool(workers) as pool, uncollected():
        content = read_content(sources, store, pool, tell)
        frozen = load_releases(releases, store) if releases is not None else ()
        around = Around(
            citing=Citing(web_root(base_url), permalinks(frozen)),
            changes=changes_since(frozen[0], content) if frozen else (),
            releases=[Release(each.name, each.date, each.n_entries) for each in frozen],
            repository=repository_of(repository),
        )
        with replacing_dir(out) as folder:
            Writer(folder, content, around, store, pool, earlier=out).write(dataset)
            for release in frozen:
                release.unpack(folder)
            if around.citing.base_url is not None:
                write_sitemap(folder, around.citing.base_url)
        store.clear_old()
    return out / "index.html"


def release_site(
    name: str,
    releases: Path,
    sources: Sources,
    *,
    date: str,
    base_url: str | None = None,
    repository: str | None = None,
    dataset: "Dataset | None" = None,
    cache: Path | None = None,
    workers: int | None = None,
    tell: Tell | None = None,
) -> Path:
    """Freeze what the boards hold now as ``releases/name``; returns that folder.

    Arguments as for ``build_site``; ``date`` is the day of the release, YYYY-MM-DD.

    Raises:
        UserError: as ``build_site``; also where the release, or a later one, is there.
    """
    with kept(cache) as store, Pool(workers) as pool, uncollected():
        content = read_content(sources, store, pool, tell)
        return freeze(
            name,
            content,
            Path(releases),
            date=date,
            cache=store,
            pool=pool,
            base_url=web_root(base_url),
            repository=repository_of(repository),
            dataset=dataset,
        )


_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*/?")


def web_root(base_url: str | None) -> str | None:
    """The address with one "/" at its end; a ``UserError`` for what is no plain web address."""
    return None if base_url is None else _address("base URL", base_url) + "/"


def repository_of(url: str | None) -> str | None:
    """The address without a "/" at its end; a ``UserError`` for what is no plain web address."""
    return None if url is None else _address("repository", url)


def _address(what: str, url: str) -> str:
    if not _ADDRESS.fullmatch(url) or len(url) > 200:
        raise UserError(
            f"{what} {url[:200]!r}: expected a web address, for instance https://example.org/assay/"
        )
    return url.rstrip("/")


@contextmanager
def uncollected() -> Iterator[None]:
    """Without looking for cycles among millions of objects that all stay until the end."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextmanager
def kept(folder: Path | None) -> Iterator[Cache]:
    """A cache in ``folder``, or one that goes when the build ends."""
    if folder is not None:
        yield Cache(folder)
        return
    with tempfile.TemporaryDirectory(prefix="assay-site-") as temporary:
        yield Cache(Path(temporary))


def check_out(out: Path, sources: list[Path]) -> None:
    """Refuse a folder that a build would destroy something in."""
    whole = out.resolve()
    for source in sources:
        inside = Path(source).resolve()
        if inside == whole or whole in inside.parents:
            raise UserError(f"--out {out} holds the results in {source}; choose another folder")
    if not out.exists():
        return
    if not out.is_dir():
        raise UserError(f"--out {out} is a file; choose a folder")
    index = out / "index.html"
    if any(out.iterdir()) and not (
        index.is_file() and f'content="{GENERATOR}' in index.read_text("utf-8", "replace")[:4000]
    ):
        raise UserError(
            f"--out {out} is not empty and holds no site made by this command; "
            "it would be replaced: choose another folder or empty it"
        )

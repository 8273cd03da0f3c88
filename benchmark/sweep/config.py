"""The sweep's configuration file: TOML, every key known, every value checked before any work."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from benchmark.errors import UserError
from benchmark.measure import Protocol
from benchmark.saes.training import ARCHITECTURES
from benchmark.sweep import reading
from benchmark.sweep.reading import Check

GRIDS = "grids"
MATCHERS = ("fbmp", "one_to_one", "top_k_f1", "nn_omp")


class ConfigError(UserError):
    """A configuration file with faults; ``faults`` has a line for each."""

    def __init__(self, source: str, faults: Sequence[str]) -> None:
        self.faults = tuple(f"{source}: {fault}" for fault in faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True)
class Data:
    """A dataset, and the dataset of its edit pairs where that is another one."""

    name: str
    pairs: str | None = None


@dataclass(frozen=True)
class Matcher:
    """A way to find coalitions, as ``match_concepts`` takes it."""

    matcher: str = "fbmp"
    beta: float = 0.5
    max_latents: int = 3

    @property
    def slug(self) -> str:
        """Name for folders and tables: ``fbmp-b0.5-k3``; β only where the matcher uses it."""
        beta = f"-b{self.beta:g}" if self.matcher == "fbmp" else ""
        size = "" if self.matcher == "one_to_one" else f"-k{self.max_latents}"
        return f"{self.matcher.replace('_', '-')}{beta}{size}"

    @property
    def label(self) -> str:
        """Name for readers."""
        names = {"one_to_one": "one-to-one", "top_k_f1": "top-k F_1", "nn_omp": "NN-OMP"}
        name = names.get(self.matcher, f"FBMP F_{self.beta:g}")
        other = self.matcher != "one_to_one" and self.max_latents != Matcher.max_latents
        return f"{name}, k {self.max_latents}" if other else name


@dataclass(frozen=True)
class KSweep:
    """TopK-family SAEs trained at several numbers of active latents."""

    architectures: tuple[str, ...] = ("topk",)
    dict_sizes: tuple[int, ...] = (1024,)
    k: tuple[int, ...] = (8, 16, 32, 64, 128)


@dataclass(frozen=True)
class SweepConfig:
    """What a sweep trains and measures.

    Attributes:
        name: short name of the sweep.
        architectures, dict_sizes, seeds, k, epochs: of the main grid, as in ``Recipe``.
        encoders: names; ``none`` for a dataset of activations.
        datasets: each with the dataset of its pairs where that is another one.
        matchers: the first is that of the result records; the others are the ablation.
        k_sweep: SAEs of the K ablation; None for none.
        sanity: whether the sanity check is run on the main grid.
        bootstrap_resamples, sanity_subsamples, twin_seeds: as in ``Protocol`` and the check's plan.
    """

    name: str
    architectures: tuple[str, ...]
    dict_sizes: tuple[int, ...]
    encoders: tuple[str, ...]
    datasets: tuple[Data, ...]
    seeds: tuple[int, ...] = (0,)
    k: int = 32
    epochs: int = 50
    matchers: tuple[Matcher, ...] = (Matcher(),)
    k_sweep: KSweep | None = None
    sanity: bool = True
    bootstrap_resamples: int = Protocol.bootstrap_resamples
    sanity_subsamples: int = 100
    twin_seeds: tuple[int, ...] = Protocol.twin_seeds
    out: Path | None = field(default=None)

    def protocol(self, matcher: Matcher | None = None) -> Protocol:
        """The protocol of the result records, or that of another matcher."""
        chosen = matcher or self.matchers[0]
        return Protocol(
            matcher=chosen.matcher,
            # what a matcher does not use is recorded as what it amounts to
            beta=chosen.beta if chosen.matcher == "fbmp" else 1.0,
            max_latents=1 if chosen.matcher == "one_to_one" else chosen.max_latents,
            bootstrap_resamples=self.bootstrap_resamples,
            twin_seeds=self.twin_seeds,
        )


def find_config(name: str) -> Path:
    """The file of a configuration: a path, or the name of one that comes with the suite.

    Raises:
        UserError: neither a file nor a known name; the known ones are listed.
    """
    path = Path(name)
    if path.is_file():
        return path
    folder = Path(str(resources.files(__package__))) / GRIDS
    known = sorted(one.stem for one in folder.glob("*.toml"))
    if name in known:
        return folder / f"{name}.toml"
    raise UserError(
        f"no sweep configuration {name!r}; expected a TOML file or one of {', '.join(known)}"
    )


def load_config(path: Path) -> SweepConfig:
    """Read and check a configuration file.

    Raises:
        ConfigError: with every fault in it, each naming the key and what was expected.
        UserError: a file that cannot be read.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ConfigError(str(path), [f"not TOML: {error}"]) from error
    reader = reading.Reader()
    config = reader.table(SweepConfig, document, "", _CONFIG)
    if config is not None and not reader.faults:
        reader.faults += _contradictions(config)
    if reader.faults or config is None:
        raise ConfigError(str(path), reader.faults)
    return config


_ARCHITECTURES = reading.many(reading.one_of(ARCHITECTURES))
_SIZES = reading.many(reading.whole(1, 1 << 24))
_DATA: dict[str, Check] = {"name": reading.text, "pairs": reading.text}
_MATCHER: dict[str, Check] = {
    "matcher": reading.one_of(MATCHERS),
    "beta": reading.positive,
    "max_latents": reading.whole(1, 4096),
}
_K_SWEEP: dict[str, Check] = {
    "architectures": reading.many(reading.one_of(("topk", "batchtopk", "matryoshka"))),
    "dict_sizes": _SIZES,
    "k": _SIZES,
}
_CONFIG: dict[str, Check] = {
    "name": reading.name,
    "architectures": _ARCHITECTURES,
    "dict_sizes": _SIZES,
    "encoders": reading.many(reading.text),
    "datasets": reading.many(reading.table(Data, _DATA)),
    "seeds": reading.many(reading.whole(0)),
    "k": reading.whole(1, 1 << 24),
    "epochs": reading.whole(1, 1_000_000),
    "matchers": reading.many(reading.table(Matcher, _MATCHER)),
    "k_sweep": reading.table(KSweep, _K_SWEEP),
    "sanity": reading.flag,
    "bootstrap_resamples": reading.whole(1, 1_000_000),
    "sanity_subsamples": reading.whole(2, 1_000_000),
    "twin_seeds": reading.many(reading.whole(0)),
    "out": reading.path_of,
}


def _contradictions(config: SweepConfig) -> list[str]:
    """What no single value shows: more active latents than there are latents."""
    faults = []
    if config.k > min(config.dict_sizes):
        faults.append(
            f"k: found {config.k}, expected at most the least of dict_sizes, "
            f"{min(config.dict_sizes)}"
        )
    if config.k_sweep and max(config.k_sweep.k) > min(config.k_sweep.dict_sizes):
        faults.append(
            f"k_sweep.k: found {max(config.k_sweep.k)}, expected at most the least of "
            f"k_sweep.dict_sizes, {min(config.k_sweep.dict_sizes)}"
        )
    slugs = [matcher.slug for matcher in config.matchers]
    if len(set(slugs)) < len(slugs):
        faults.append("matchers: two entries find the same coalitions; keep one of them")
    return faults

"""From a configuration to jobs: one SAE each, with all that is measured on it."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmark.measure import Protocol
from benchmark.names import slug
from benchmark.saes.training import Recipe
from benchmark.sweep.config import Data, Matcher, SweepConfig
from benchmark.workers import Setting

RESULTS, ABLATIONS, SAES, SANITY = "results", "ablations", "saes", "sanity"
_MOST_PREFIX = 30


@dataclass(frozen=True)
class Wanted:
    """One measurement of an SAE.

    Attributes:
        protocol: how it is measured.
        path: where its record goes, below the output folder.
        full: all scores with card and random codes; else those of its codes and of its twins'.
        matcher: the matcher, where this is an entry of the ablation.
    """

    protocol: Protocol
    path: Path
    full: bool = True
    matcher: Matcher | None = None


@dataclass(frozen=True)
class Job:
    """One SAE: where it is trained, under which name, and what is measured on it.

    Attributes:
        id, title: of the submission.
        setting: dataset and encoder.
        recipe: how to train it.
        wanted: measurements.
        main: whether it belongs to the main grid; else it is there for the K ablation.
    """

    id: str
    title: str
    setting: Setting
    recipe: Recipe
    wanted: tuple[Wanted, ...]
    main: bool = True


TITLES = {
    "topk": "TopK",
    "batchtopk": "BatchTopK",
    "matryoshka": "Matryoshka",
    "jumprelu": "JumpReLU",
    "relu": "ReLU",
    "gated": "Gated",
    "p_anneal": "P-anneal",
}
_WITH_K = ("topk", "batchtopk", "matryoshka")


def title_of(recipe: Recipe, *, with_k: bool = False) -> str:
    """Name of an SAE for readers."""
    k = f", k {recipe.k}" if with_k else ""
    return f"{TITLES[recipe.architecture]} {recipe.d_sae}{k} (seed {recipe.seed})"


def jobs_of(config: SweepConfig) -> list[Job]:
    """Every SAE of the configuration, setting by setting, the costliest first."""
    prefixes = _prefixes(config)
    return [
        _job(config, setting, prefix, recipe, main)
        for setting, prefix in prefixes.items()
        for recipe, main in sorted(
            _recipes(config).items(),
            key=lambda item: (-item[0].d_sae, item[0].architecture, item[0].k, item[0].seed),
        )
    ]


def settings_of(config: SweepConfig) -> list[Setting]:
    """Every dataset with every encoder, in the order of the file."""
    return [
        Setting(data.name, encoder, data.pairs)
        for data in config.datasets
        for encoder in config.encoders
    ]


def _recipes(config: SweepConfig) -> dict[Recipe, bool]:
    """Recipes, and whether each is part of the main grid."""
    found: dict[Recipe, bool] = {}
    if sweep := config.k_sweep:
        for architecture in sweep.architectures:
            for size in sweep.dict_sizes:
                for k in sweep.k:
                    for seed in config.seeds:
                        recipe = Recipe(architecture, size, k, seed, config.epochs)
                        found[recipe] = False
    for architecture in config.architectures:
        for size in config.dict_sizes:
            for seed in config.seeds:
                found[Recipe(architecture, size, config.k, seed, config.epochs)] = True
    return found


def in_k_sweep(config: SweepConfig, recipe: Recipe) -> bool:
    """Whether an SAE is a row of the K ablation; one of the main grid may be, too."""
    sweep = config.k_sweep
    return (
        sweep is not None
        and recipe.architecture in sweep.architectures
        and recipe.d_sae in sweep.dict_sizes
        and recipe.k in sweep.k
    )


def _job(config: SweepConfig, setting: Setting, prefix: str, recipe: Recipe, main: bool) -> Job:
    k = f"-k{recipe.k}" if recipe.architecture in _WITH_K else ""
    architecture = recipe.architecture.replace("_", "-")
    identifier = f"{prefix}-{architecture}-{recipe.d_sae}{k}-s{recipe.seed}"
    return Job(
        identifier,
        title_of(recipe, with_k=not main),
        setting,
        recipe,
        tuple(_wanted(config, identifier, main)),
        main,
    )


def _wanted(config: SweepConfig, identifier: str, main: bool) -> Iterator[Wanted]:
    file = f"{identifier}.json"
    # a board must not mix SAEs of another K into its lines over dictionary sizes
    yield Wanted(config.protocol(), Path(RESULTS if main else f"{ABLATIONS}/k") / file)
    for matcher in config.matchers[1:] if main else ():
        path = Path(ABLATIONS) / "matchers" / matcher.slug / file
        yield Wanted(config.protocol(matcher), path, full=False, matcher=matcher)


def _prefixes(config: SweepConfig) -> dict[Setting, str]:
    """Begin of the ids of each setting: short, and no two alike."""
    plain = {setting: _slug(setting) for setting in settings_of(config)}
    times = Counter(plain.values())
    return {
        setting: prefix
        if times[prefix] == 1 and len(prefix) <= _MOST_PREFIX and prefix
        else f"{slug(prefix, _MOST_PREFIX - 9) or 'x'}-{_digest(setting)}"
        for setting, prefix in plain.items()
    }


def _slug(setting: Setting) -> str:
    return slug("-".join(filter(None, (setting.dataset, setting.pairs, setting.encoder))), 200)


def _digest(setting: Setting) -> str:
    text = repr((setting.dataset, setting.pairs, setting.encoder))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def setting_slug(config: SweepConfig, setting: Setting) -> str:
    """What the ids of a setting begin with; also the name of its sanity file."""
    return _prefixes(config)[setting]


def data_of(setting: Setting) -> Data:
    """The setting's dataset as the configuration names it."""
    return Data(setting.dataset, setting.pairs)

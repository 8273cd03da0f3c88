"""The page that shows the latents a judge saw: their examples, sentences and failed trials."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from leaderboard.numbers import Number, plain, visible
from leaderboard.pages.judged import OTHERS
from leaderboard.pages.pictures import Picture, Pictures
from leaderboard.plots import score_spread
from leaderboard.reading.judgements import Judgement

PER_QUARTILE = 12
"""Latents of a quartile shown with examples; the page's table and the linked JSON hold all."""

STRONGEST = 5
FAILED_TEXTS = 5
"""Failed trials of a latent shown where examples are texts, which take more room."""

_AROUND = 90
"""Characters kept on each side of the marked token of a context."""

_MARKED = re.compile("«([^«»]*)»")


@dataclass(frozen=True)
class Shown:
    """One example: a picture or a token context, else its name alone."""

    name: str
    picture: Picture | None
    context: Markup | None


@dataclass(frozen=True)
class Ranked:
    """An example of a trial, with its true place and the judge's (1 is the strongest)."""

    example: Shown
    true: int
    judged: int | None


@dataclass(frozen=True)
class Trial:
    """A trial that the judge did not order rightly, in the order shown."""

    number: int
    ranked: tuple[Ranked, ...]
    answered: bool


@dataclass(frozen=True)
class LatentRow:
    """One judged latent: its numbers and the judge's sentence."""

    latent: int
    quartile: int
    dominance: Number
    score: Number
    right: str
    others: tuple[Number, ...]
    explanation: str
    cut: bool
    shown: bool


@dataclass(frozen=True)
class LatentView:
    """A latent shown with examples."""

    row: LatentRow
    strongest: tuple[Shown, ...]
    failed: tuple[Trial, ...]
    n_failed: int


@dataclass(frozen=True)
class Section:
    """One dominance quartile of the gallery."""

    quartile: int
    judged: int
    eligible: int
    alive: int
    latents: tuple[LatentView, ...]


@dataclass(frozen=True)
class GalleryView:
    """The whole page."""

    is_text: bool
    note: str | None
    figure: Markup
    sections: tuple[Section, ...]
    rows: tuple[LatentRow, ...]
    others: tuple[str, ...]

    @property
    def n_shown(self) -> int:
        return sum(len(section.latents) for section in self.sections)


def gallery_view(key: str, judgement: Judgement, pictures: Pictures) -> GalleryView:
    """All that the page of ``judgement`` shows; ``key`` is the prefix of its ids."""
    document = judgement.document
    note = None if judgement.is_text else pictures.why_not(document["dataset"])
    others = tuple(name for name in OTHERS if document["scores"].get(name) is not None)
    latents = sorted(
        document["latents"], key=lambda each: (each["quartile"], -each["dominance"], each["latent"])
    )
    by_quartile = [[each for each in latents if each["quartile"] == q] for q in (1, 2, 3, 4)]
    chosen = [evenly(group, PER_QUARTILE) for group in by_quartile]
    kept = {each["latent"] for group in chosen for each in group}
    rows = {each["latent"]: _row(each, others, each["latent"] in kept) for each in latents}
    show = _shower(judgement, pictures if note is None else None, chosen)
    trials = document["protocol"]["trials"]
    return GalleryView(
        is_text=judgement.is_text,
        note=note,
        figure=score_spread(key, [[one["score"] for one in own] for own in by_quartile], trials),
        sections=tuple(
            Section(
                quartile=quartile["quartile"],
                judged=len(own),
                eligible=quartile["eligible"],
                alive=quartile["alive"],
                latents=tuple(
                    _latent(each, rows[each["latent"]], judgement.is_text, show) for each in few
                ),
            )
            for quartile, own, few in zip(document["quartiles"], by_quartile, chosen, strict=True)
        ),
        rows=tuple(rows.values()),
        others=others,
    )


def evenly(items: Sequence[Any], most: int) -> list[Any]:
    """At most ``most`` items at even distances, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]


def context_markup(text: str) -> Markup:
    """A token context with its marked token highlighted, cut to what stands around it.

    A text without exactly one ``«…»`` is shown as it is, cut at its end.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    marks = list(_MARKED.finditer(text))
    if len(marks) != 1:
        return _plain(text[: 3 * _AROUND] + ("…" if len(text) > 3 * _AROUND else ""))
    (mark,) = marks
    before, after = text[: mark.start()], text[mark.end() :]
    if len(before) > _AROUND:
        before = "…" + before[-_AROUND:]
    if len(after) > _AROUND:
        after = after[:_AROUND] + "…"
    token = Markup("<mark>{}</mark>").format(visible(mark[1]))
    return _plain(before) + token + _plain(after)


def _plain(text: str) -> Markup:
    return escape(visible(text))


def _row(latent: Mapping[str, Any], others: Sequence[str], shown: bool) -> LatentRow:
    trials = latent["trials"]
    return LatentRow(
        latent=latent["latent"],
        quartile=latent["quartile"],
        dominance=plain(latent["dominance"], 4),
        score=plain(latent["score"]),
        right=f"{sum(trial['correct'] for trial in trials)} of {len(trials)}",
        others=tuple(plain(latent.get(name)) for name in others),
        explanation=latent["explanation"] or "(no explanation)",
        cut=latent["explanation_cut"],
        shown=shown,
    )


def _latent(
    latent: Mapping[str, Any], row: LatentRow, is_text: bool, show: Callable[[str], Shown]
) -> LatentView:
    failed = _failed(latent)
    return LatentView(
        row=row,
        strongest=tuple(show(name) for name in latent["strongest"][:STRONGEST]),
        failed=tuple(
            Trial(
                number=number,
                ranked=tuple(
                    Ranked(show(name), place + 1, None if judged is None else judged + 1)
                    for name, place, judged in _places(trial)
                ),
                answered=trial["answer"] is not None,
            )
            for number, trial in failed[: FAILED_TEXTS if is_text else None]
        ),
        n_failed=len(failed),
    )


def _failed(latent: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
    return [(at, t) for at, t in enumerate(latent["trials"], start=1) if not t["correct"]]


def _places(trial: Mapping[str, Any]) -> list[tuple[str, int, int | None]]:
    """Each example as shown, with its place in truth and in the answer, from 0."""
    truth, answer = trial["truth"], trial["answer"]
    return [
        (name, truth.index(at), None if answer is None else answer.index(at))
        for at, name in enumerate(trial["shown"])
    ]


def _shower(
    judgement: Judgement,
    pictures: Pictures | None,
    chosen: Sequence[Sequence[Mapping[str, Any]]],
) -> Callable[[str], Shown]:
    """A function from an example's name to how it is shown."""
    contexts = judgement.document.get("contexts", {}) if judgement.is_text else {}
    names = {name for group in chosen for each in group for name in _names(each)}
    made = pictures.thumbnails(names) if pictures is not None and not judgement.is_text else {}
    shown = {
        name: Shown(
            name,
            made.get(name),
            context_markup(contexts[name]) if name in contexts else None,
        )
        for name in names
    }
    return shown.__getitem__


def _names(latent: Mapping[str, Any]) -> set[str]:
    failed = (name for _, trial in _failed(latent) for name in trial["shown"])
    return {*latent["strongest"][:STRONGEST], *failed}

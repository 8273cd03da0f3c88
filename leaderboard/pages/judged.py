"""What a judge makes of one SAE's latents, ready for the SAE's page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from leaderboard.definitions import judge_column
from leaderboard.numbers import Number, number, plain
from leaderboard.plots import quartile_scores
from leaderboard.reading.judgements import judge_slug
from leaderboard.reading.records import DAME, Record, Score

OTHERS = ("detection", "amplitude")
"""The older protocols that DAME replaces, where a judge did them too."""


@dataclass(frozen=True)
class QuartileRow:
    """One dominance quartile: the mean score of its judged latents, and whom it stands for."""

    name: str
    mean: Number
    scored: str
    eligible: str
    share: Number
    left_out: str
    others: tuple[Number, ...]


@dataclass(frozen=True)
class JudgedView:
    """One judge's DAME of one SAE.

    Attributes:
        key: prefix of the ids on the page.
        label: how the board names it.
        n: judged latents.
        who: kind, model and prompts, as text; empty where the name says it all.
        gallery, document: paths from the site's root; None where the judgement is not at hand.
    """

    key: str
    judge: str
    label: str
    who: str
    dame: Number
    n: int
    deficit: Number
    others: Mapping[str, Number]
    quartiles: tuple[QuartileRow, ...]
    figure: Markup | None
    counts: tuple[tuple[str, int], ...]
    gallery: str | None
    document: str | None


def gallery_path(record: Record, judge: str, board: str) -> str:
    """The page of the latents that ``judge`` saw, from the site's root."""
    return f"saes/{record.id}/latents-{judge_slug(judge)}-{board}.html"


def judged_views(record: Record, board: str) -> tuple[JudgedView, ...]:
    """One view a judge, by name; ``board`` is the slug of the record's board."""
    return tuple(_view(record, judge, board) for judge in record.judges)


def judged_part(record: Any, key: str) -> str:
    """Which quartiles a DAME rests on, and the share of alive latents that could be judged."""
    if not key.startswith(DAME):
        return ""
    judge = key.removeprefix(DAME)
    if judgement := record.judged.get(judge):
        rows = judgement.document["quartiles"]
        parts = [(row["mean"], row["eligible"], row["alive"]) for row in rows]
    elif block := record.document.get("dame", {}).get(judge):
        each = zip(block["quartile_means"], block["eligible"], block["alive"], strict=True)
        parts = list(each)
    else:
        return ""
    judged = [f"Q{q}" for q, (mean, _, _) in enumerate(parts, start=1) if mean is not None]
    eligible, alive = sum(part[1] for part in parts), sum(part[2] for part in parts)
    whole = "all quartiles" if len(judged) == len(parts) else f"{' and '.join(judged)} only"
    return f"judged: {whole}; {eligible:,} of {alive:,} alive latents could be"


def _view(record: Record, judge: str, board: str) -> JudgedView:
    judgement, score = record.judged.get(judge), record.score(DAME + judge)
    block = record.document.get("dame", {}).get(judge)
    document: Mapping[str, Any] = {} if judgement is None else judgement.document
    scores = document.get("scores", {})
    others = [name for name in OTHERS if scores.get(name) is not None]
    key = f"judged-{judge_slug(judge)}-{board}"
    deficit = scores.get("q1_deficit") or (block or {}).get("q1_deficit")
    found = _from_document(document, others) if judgement is not None else _from_block(block)
    return JudgedView(
        key=key,
        judge=judge,
        label=judge_column(judge).head,
        who=_who(document, block),
        dame=number(score),
        n=0 if score is None else score.n,
        deficit=number(None if deficit is None else Score.read(deficit)),
        others={name: number(Score.read(scores[name])) for name in others},
        quartiles=tuple(row for _, row in found),
        figure=_figure(key, found),
        counts=tuple(sorted(document.get("counts", {}).items())),
        gallery=gallery_path(record, judge, board) if judgement is not None else None,
        document=judgement.path if judgement is not None else None,
    )


def _who(document: Mapping[str, Any], block: Mapping[str, Any] | None) -> str:
    if not document:
        prompts = (block or {}).get("prompts_sha256")
        return "" if prompts is None else f"prompts {prompts[:12]}"
    judge = document["judge"]
    parts = [] if judge["kind"] == judge["name"] else [judge["kind"]]
    if judge["model"] is not None:
        parts.append(f"model {judge['model']}")
    if judge["prompts"] is not None:
        prompts = judge["prompts"]
        parts.append(f"prompts version {prompts['version']} ({prompts['sha256'][:12]})")
    return ", ".join(parts)


Found = list[tuple[Score, QuartileRow]]


def _from_document(document: Mapping[str, Any], others: list[str]) -> Found:
    found: Found = []
    for quartile in document["quartiles"]:
        bounds = quartile["ci95"]
        score = Score(
            quartile["mean"],
            None if bounds is None else (bounds[0], bounds[1]),
            quartile["scored"],
            {} if quartile["mean"] is not None else {"no judged latent": quartile["alive"]},
        )
        reasons = sorted(quartile["ineligible"].items())
        row = QuartileRow(
            name=f"Q{quartile['quartile']}",
            mean=number(score),
            scored=f"{quartile['scored']:,}",
            eligible=f"{quartile['eligible']:,} of {quartile['alive']:,}",
            share=_share(quartile["eligible"], quartile["alive"]),
            left_out=", ".join(f"{count:,} {reason}" for reason, count in reasons if count),
            others=tuple(plain(quartile.get(name)) for name in others),
        )
        found.append((score, row))
    return found


def _from_block(block: Mapping[str, Any] | None) -> Found:
    """What a record itself says of the quartiles: no intervals, and no counts of the judged."""
    if block is None:
        return []
    found: Found = []
    each = zip(block["quartile_means"], block["eligible"], block["alive"], strict=True)
    for index, (mean, eligible, alive) in enumerate(each, start=1):
        row = QuartileRow(
            name=f"Q{index}",
            mean=plain(mean),
            scored="n/a",
            eligible=f"{eligible:,} of {alive:,}",
            share=_share(eligible, alive),
            left_out="",
            others=(),
        )
        found.append((Score(mean, None, 0, {}), row))
    return found


def _share(eligible: int, alive: int) -> Number:
    return plain(eligible / alive if alive else None)


def _figure(key: str, found: Found) -> Markup | None:
    if len(found) != 4:
        return None
    means = [(score, row.mean) for score, row in found]
    return quartile_scores(key, means, [f"eligible {row.eligible}" for _, row in found])

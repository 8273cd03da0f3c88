"""The AIU report card of one SAE, ready for its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.definitions import BY_ANCHOR, Definition
from leaderboard.numbers import Number, number, pad, plain
from leaderboard.pages.judged import JudgedView
from leaderboard.reading.records import Record, Score


@dataclass(frozen=True)
class CardRow:
    """One number; ``criterion`` stands only at the first row of its group."""

    criterion: str
    label: str
    definition: Definition
    number: Number
    n: int | None


@dataclass(frozen=True)
class PairRow:
    """Two latents that write nearly the same direction."""

    latents: str
    numbers: tuple[Number, ...]


@dataclass(frozen=True)
class CardView:
    """C1 to C5, the pairs behind C1, and where angles are taken."""

    rows: tuple[CardRow, ...]
    n_pairs: int
    zero_rows: int
    n_sharded: int | None
    no_sharding: str | None
    sharded: tuple[PairRow, ...]
    strongest: tuple[PairRow, ...]
    space: str

    def pad(self, number: Number) -> str:
        """Class that brings a number's decimal point under those of the other rows."""
        return pad(number, max(row.number.decimals for row in self.rows))


def card_view(record: Record, judged: Sequence[JudgedView]) -> CardView | None:
    """The card of a record with what its judges found; None where it carries none."""
    card = record.document.get("card")
    if card is None:
        return None
    sharding = card["c1"]["sharding"]
    return CardView(
        rows=tuple(_rows(card, record.document["protocol"], judged)),
        n_pairs=card["c1"]["n_pairs"],
        zero_rows=card["c1"]["zero_rows"],
        n_sharded=sharding["n_pairs"],
        no_sharding=sharding["reason"],
        sharded=_pairs(sharding["pairs"], ("decoder_cosine", "encoder_cosine", "jaccard")),
        strongest=_pairs(card["c1"]["strongest"], ("decoder_cosine",)),
        space=card["geometry"]["space"],
    )


def _rows(
    card: Mapping[str, Any], protocol: Mapping[str, Any], judged: Sequence[JudgedView]
) -> list[CardRow]:
    c1, c2, c5, geometry = (card[key] for key in ("c1", "c2", "c5", "geometry"))
    least, limit = protocol.get("completeness_f1"), protocol.get("l0_limit")
    found = "Concepts found" if least is None else f"Concepts found (F₁ ≥ {least:g})"
    sparse = "Inputs within the limit" if limit is None else f"Inputs with L0 ≤ {limit:,}"
    spread = card["concentration"]
    inside = " / ".join(f"{count:,}" for count in c1["within_quartile"])
    within = sum(c1["within_quartile"])
    return [
        CardRow(
            "C1 non-redundancy",
            "Redundant pairs",
            BY_ANCHOR["redundant-fraction"],
            _count(c1["n_pairs"]),
            None,
        ),
        _row("", "Redundant latents", "redundant-fraction", c1["redundant_fraction"]),
        _row("", "Q1 enrichment", "enrichment-q1", c1["enrichment_q1"], 2),
        CardRow(
            "",
            "Pairs inside Q1 / Q2 / Q3 / Q4",
            BY_ANCHOR["same-quartile-pairs"],
            Number(float(within), inside, None, 0, "pairs whose two latents lie in one quartile"),
            within,
        ),
        _row("", "Q1's share of these", "same-quartile-pairs", c1["within_quartile_share"][0]),
        _row("C2 completeness", found, "completeness", c2["complete_fraction"]),
        _row("", "Explained variance", "explained-variance", c2["explained_variance"]),
        *_monosemanticity(card["c3"], judged),
        _row("C4 living latents", "Dead latents", "dead-fraction", card["c4"]["dead_fraction"]),
        _row("C5 sparsity", "L0", "l0", c5["l0"], 1),
        _row("", sparse, "sparse-inputs", c5["within_limit"]),
        _row(
            "Concentration",
            "Share of the ten most frequent, median",
            "concentration",
            spread["top10_share_median"],
        ),
        _row("", "The same, 90th percentile", "concentration", spread["top10_share_p90"]),
        _row("", "Gini of dominance", "concentration", spread["gini"]),
        _row("Geometry", "Encoder angle, degrees", "angles", geometry["encoder"]["mean"], 1),
        _row("", "Decoder angle, degrees", "angles", geometry["decoder"]["mean"], 1),
    ]


def _monosemanticity(c3: Mapping[str, Any], judged: Sequence[JudgedView]) -> list[CardRow]:
    """C3 by every judge: DAME, what Q1 lacks, and the score and eligible share by quartile."""
    if not judged:
        missing = Number(None, "n/a", None, 0, c3["reason"] or "needs a judge")
        return [CardRow("C3 monosemanticity", "DAME", BY_ANCHOR["dame"], missing, None)]
    rows: list[CardRow] = []
    for view in judged:
        first = "" if rows else "C3 monosemanticity"
        rows.append(CardRow(first, view.label, BY_ANCHOR["dame"], view.dame, view.n))
        rows.append(CardRow("", "Q1 deficit", BY_ANCHOR["q1-deficit"], view.deficit, None))
        if view.quartiles:
            means = [row.mean for row in view.quartiles]
            shares = [row.share for row in view.quartiles]
            rows += [
                _four("Mean score in Q1 / Q2 / Q3 / Q4", "dame", means),
                _four("Eligible share in Q1 / Q2 / Q3 / Q4", "eligible-share", shares),
            ]
    return rows


def _four(label: str, anchor: str, numbers: Sequence[Number]) -> CardRow:
    """One value a quartile in one row; it is missing only where all four are."""
    known = [each.value for each in numbers if each.value is not None]
    text = " / ".join(each.text for each in numbers)
    note = "one value a quartile" if known else "not applicable in any quartile"
    shown = Number(known[0] if known else None, text, None, 2, note)
    return CardRow("", label, BY_ANCHOR[anchor], shown, None)


def _row(
    criterion: str, label: str, anchor: str, document: Mapping[str, Any], decimals: int = 3
) -> CardRow:
    score = Score.read(document)
    shown = number(score, decimals)
    return CardRow(criterion, label, BY_ANCHOR[anchor], shown, score.n)


def _count(value: int) -> Number:
    return Number(float(value), f"{value:,}", None, 0, "exact count")


def _pairs(rows: list[Mapping[str, Any]], keys: tuple[str, ...]) -> tuple[PairRow, ...]:
    return tuple(
        PairRow(
            " and ".join(str(latent) for latent in row["latents"]),
            tuple(plain(row[key], 3) for key in keys),
        )
        for row in rows
    )

"""``assay card``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmark.cli.options import (
    ActiveLatents,
    ArchitectureName,
    DatasetName,
    EncoderName,
    FeaturesFile,
    Identifier,
    SaePath,
)

app = typer.Typer(add_completion=False)

_SHARDED = {
    "latents": "latents",
    "decoder_cosine": "decoder cosine",
    "encoder_cosine": "encoder cosine",
    "jaccard": "Jaccard",
    "logit_effect_cosine": "logit effect",
}


@app.command()
def card(
    sae: SaePath,
    dataset: DatasetName = "synavatars",
    encoder: EncoderName = None,
    features: FeaturesFile = None,
    id_: Identifier = None,
    k: ActiveLatents = None,
    architecture: ArchitectureName = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Language model of text activations, for the logit effect; by default where it "
            "was when they were collected."
        ),
    ] = None,
    judgement: Annotated[
        list[Path] | None,
        typer.Option(help="A judgement of this SAE (assay judge --out) for C3; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the card here as JSON.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """The AIU report card of an SAE: redundancy, completeness, dead latents, sparsity, geometry.

    C3 (monosemanticity) comes from judgements.
    """
    from benchmark.card_runs import card_prepared
    from benchmark.cli.inputs import (
        about,
        check_joins,
        check_out,
        give_out,
        read_document,
        read_sae,
    )

    judged_by = {f"--judgement {path}": path for path in judgement or ()}
    check_out(out, {"SAE": Path(sae), "--features": features, **judged_by})
    judgements = {path: read_document(path, "judge") for path in judgement or ()}
    loaded = read_sae(
        sae,
        dataset=dataset,
        encoder=encoder,
        features=features,
        identifier=id_,
        k=k,
        architecture=architecture,
    )
    for path, judged in judgements.items():
        check_joins(path, about(*loaded[1:]), judged)
    document = card_prepared(*loaded, model=model)
    document["card"] = _judged(document["card"], judgements)
    give_out("card", document, out, json_, _report)


def _judged(
    card: Mapping[str, Any], judgements: Mapping[Path, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """The card with the DAME of each judgement; one judge cannot judge twice."""
    from benchmark.errors import UserError
    from benchmark.judges.document import with_c3

    for path, judged in judgements.items():
        name = judged["judge"]["name"]
        if name in (card["c3"]["dame"] or {}):
            raise UserError(f"{path}: another --judgement is by {name} too; give one of them")
        card = with_c3(card, judged)
    return card


def _report(document: Mapping[str, Any]) -> None:
    from benchmark.cli.show import cell, plain_table, wide_console

    submission, dataset = document["submission"], document["dataset"]
    table = plain_table(
        f"AIU report card: {submission['id']} on {dataset['name']} {dataset['revision']}",
        ["number", "value [95 % interval]", "n"],
    )
    for name, score in _rows(document["card"], document["protocol"]):
        if isinstance(score, str):
            table.add_row(name, score, "")
        else:
            table.add_row(name, cell(score), f"{score['n']:,}")
    console = wide_console()
    console.print(table)
    sharding = document["card"]["c1"]["sharding"]
    if sharding["pairs"]:
        console.print(_sharded(sharding))
        if reason := sharding.get("logit_effect_reason"):
            console.print(f"Logit effect: {reason}.", highlight=False, markup=False)
    console.print(f"Angles are in {document['card']['geometry']['space']}.")


def _rows(card: Mapping[str, Any], protocol: Mapping[str, Any]) -> list[tuple[str, Any]]:
    c1, spread, geometry = card["c1"], card["concentration"], card["geometry"]
    sharded = c1["sharding"]["n_pairs"]
    pairs = f"{c1['n_pairs']:,}; inside Q1 to Q4: {', '.join(map(str, c1['within_quartile']))}"
    rows: list[tuple[str, Any]] = [
        (f"C1 redundant pairs (decoder cosine ≥ {protocol['redundancy_threshold']})", pairs),
        ("C1 redundant latents", c1["redundant_fraction"]),
        ("C1 Q1 enrichment", c1["enrichment_q1"]),
    ]
    for q, share in enumerate(c1["within_quartile_share"], start=1):
        rows.append((f"C1 share of same-quartile pairs in Q{q}", share))
    rows += [
        ("C1 sharded pairs", c1["sharding"]["reason"] if sharded is None else f"{sharded:,}"),
        (
            f"C2 concepts found (F1 ≥ {protocol['completeness_f1']})",
            card["c2"]["complete_fraction"],
        ),
        ("C2 explained variance", card["c2"]["explained_variance"]),
        *_c3(card["c3"]),
        ("C4 dead latents", card["c4"]["dead_fraction"]),
        ("C5 mean L0", card["c5"]["l0"]),
        (f"C5 inputs with L0 ≤ {protocol['l0_limit']}", card["c5"]["within_limit"]),
    ]
    for q, mass in enumerate(card["quartiles"]["mass"], start=1):
        rows.append((f"share of activation in Q{q}", mass))
    rows += [
        ("share in ten most frequent, median", spread["top10_share_median"]),
        ("share in ten most frequent, 90th percentile", spread["top10_share_p90"]),
        ("Gini of dominance", spread["gini"]),
    ]
    for side in ("encoder", "decoder"):
        rows.append((f"{side} angle to mean activation, degrees", geometry[side]["mean"]))
        if quartiles := geometry[side]["quartiles"]:
            rows.append(("  its quartiles", " / ".join(f"{angle:.1f}" for angle in quartiles)))
    return rows


def _c3(c3: Mapping[str, Any]) -> list[tuple[str, Any]]:
    if c3["dame"] is None:
        return [("C3 DAME", f"n/a: {c3['reason']}")]
    return [(f"C3 DAME, judge {name}", score) for name, score in sorted(c3["dame"].items())]


def _sharded(sharding: Mapping[str, Any]) -> Any:
    from benchmark.cli.show import plain_table

    table = plain_table(
        f"Sharded pairs, strongest {len(sharding['pairs'])} of {sharding['n_pairs']:,}",
        [title for key, title in _SHARDED.items() if key in sharding["pairs"][0]],
    )
    for pair in sharding["pairs"]:
        numbers = (pair[key] for key in _SHARDED if key in pair and key != "latents")
        table.add_row(
            " and ".join(str(latent) for latent in pair["latents"]),
            *("n/a" if number is None else f"{number:.3f}" for number in numbers),
        )
    return table

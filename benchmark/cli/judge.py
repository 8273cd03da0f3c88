"""``assay judge``."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from benchmark.judges import JudgeOptions
    from benchmark.judges.protocol import JudgeProtocol
    from benchmark.judges.runs import Plan

app = typer.Typer(add_completion=False)

PAID = ("openai",)
"""Judges that may cost money."""

MODELS = ("openai", "transformers")
"""Judges that are language models."""


class Also(StrEnum):
    """The protocols that the ranking replaces."""

    detection = "detection"
    amplitude = "amplitude"


@app.command()
def judge(
    sae: SaePath,
    judge_: Annotated[
        str, typer.Option("--judge", help="annotations, random, openai or transformers.")
    ],
    dataset: DatasetName = "synavatars",
    encoder: EncoderName = None,
    features: FeaturesFile = None,
    id_: Identifier = None,
    k: ActiveLatents = None,
    architecture: ArchitectureName = None,
    model: Annotated[
        str | None, typer.Option(help="Model of the judge: its name, or its folder.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible server.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Latents judged at once.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds a call may take.")] = 120.0,
    retries: Annotated[int, typer.Option(min=0, help="Times a failed call is made again.")] = 5,
    max_tokens: Annotated[int, typer.Option(min=1, help="Longest reply of a model.")] = 1024,
    budget: Annotated[int | None, typer.Option(min=0, help="Most calls this run may send.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Go on whatever the estimate.")] = False,
    transcript: Annotated[
        Path | None,
        typer.Option(help="File of every exchange; beside --out, or in the cache, by default."),
    ] = None,
    from_transcript: Annotated[
        Path | None, typer.Option(help="Answer from this file; nothing is sent.")
    ] = None,
    per_quartile: Annotated[
        int, typer.Option(min=1, help="Latents judged of each dominance quartile.")
    ] = 50,
    trials: Annotated[int, typer.Option(min=1, help="Rankings of each latent.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of latents, trials and the judge.")] = 0,
    also: Annotated[
        list[Also] | None, typer.Option(help="Measure an older protocol too; repeatable.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Result record of this SAE; the scores go in there too.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the judgement here as JSON.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the judgement as JSON.")] = False,
) -> None:
    """DAME: can a judge explain the latents, and rank unseen inputs by the explanation alone?

    A model's exchanges are kept: the same command goes on where it stopped, and asks nothing twice.
    """
    from benchmark.cli.inputs import (
        about,
        check_joins,
        check_out,
        give_out,
        read_document,
        read_sae,
    )
    from benchmark.cli.show import progress_bar
    from benchmark.files import check_target, write_json
    from benchmark.judges import JUDGES, JudgeOptions
    from benchmark.judges.document import join
    from benchmark.judges.protocol import JudgeProtocol
    from benchmark.judges.runs import judge_prepared
    from schemas import validate

    JUDGES.load(judge_)
    wanted = tuple(str(name) for name in also or ())
    protocol = JudgeProtocol(per_quartile=per_quartile, trials=trials, seed=seed, also=wanted)
    options = JudgeOptions(
        model, base_url, seed, concurrency, timeout, retries, budget,
        transcript, from_transcript, max_tokens=max_tokens,
    )  # fmt: skip
    _check(judge_, options)
    kept = {
        "SAE": Path(sae),
        "--features": features,
        "--record": record,
        "--transcript": transcript,
        "--from-transcript": from_transcript,
    }
    check_out(out, kept)
    for target in (record, transcript):
        if target is not None:
            check_target(target)
    known = None if record is None else read_document(record, "result-sae")
    loaded = read_sae(
        sae,
        dataset=dataset,
        encoder=encoder,
        features=features,
        identifier=id_,
        k=k,
        architecture=architecture,
    )
    if known is not None and record is not None:
        # before anything is asked
        check_joins(record, known, {**about(*loaded[1:]), "judge": {"name": judge_}})
    options = _with_transcript(judge_, options, out, loaded[1]["id"])

    def agree(plan: "Plan") -> None:
        _agree(plan, judge_, options, protocol, yes)

    with progress_bar("judging latents") as update:
        document = judge_prepared(*loaded, judge_, options, protocol, agree=agree, progress=update)
    if known is not None and record is not None:
        joined = join(known, document)
        validate("result-sae", joined)
        write_json(record, joined)
    give_out("judge", document, out, json_, _report)


def _check(name: str, options: "JudgeOptions") -> None:
    from benchmark.errors import UserError

    if options.transcript is not None and options.replay is not None:
        raise UserError("give --transcript or --from-transcript, not both")
    if name in MODELS:
        if options.model is None:
            raise UserError(f"judge {name} is a language model; say which with --model")
        return
    given = {
        "--model": options.model,
        "--base-url": options.base_url,
        "--budget": options.max_calls,
        "--transcript": options.transcript,
        "--from-transcript": options.replay,
    }
    unused = [option for option, value in given.items() if value is not None]
    if unused:
        raise UserError(f"judge {name} asks no model; leave out {', '.join(unused)}")


def _with_transcript(
    name: str, options: "JudgeOptions", out: Path | None, identifier: str
) -> "JudgeOptions":
    """Options with the default place of the transcript, where a model is asked."""
    from dataclasses import replace

    from benchmark.files import home
    from benchmark.names import slug

    if name not in MODELS or options.transcript is not None or options.replay is not None:
        return options
    if out is not None:
        path = out.with_name(f"{out.stem}.transcript.jsonl")
    else:
        who = "-".join(filter(None, (identifier, name, slug(options.model or ""))))
        path = home() / "judgements" / f"{who}.transcript.jsonl"
    return replace(options, transcript=path)


def _agree(
    plan: "Plan", name: str, options: "JudgeOptions", protocol: "JudgeProtocol", yes: bool
) -> None:
    """Say what asking will take; a judge that may cost money needs --yes or --budget."""
    from benchmark.errors import UserError
    from benchmark.judges.cost import estimate

    if name not in MODELS or options.replay is not None:
        return
    latents = plan.sample.all_latents
    size: dict[str, Any] = {}
    if plan.kind == "image" and latents:
        size = {"picture_size": _picture_size(plan)}
    cost = estimate(len(latents), protocol, plan.kind, max_tokens=options.max_tokens, **size)
    typer.echo(f"{len(latents)} latents, {plan.judge.name}: {cost}", err=True)
    typer.echo(f"transcript: {options.transcript}", err=True)
    if name in PAID and not yes and options.max_calls is None:
        raise UserError(
            f"judge {name} may cost money ({cost.calls:,} calls, {cost.prompt_tokens:,} prompt "
            "tokens); give --yes to go on, or --budget CALLS"
        )


def _picture_size(plan: "Plan") -> tuple[int, int]:
    from benchmark.images import read_image

    example = plan.source.example(0)
    assert example.picture is not None
    size: tuple[int, int] = read_image(example.picture(), name=example.id).size
    return size


def _report(document: Mapping[str, Any]) -> None:
    from benchmark.cli.show import cell, plain_table, wide_console

    submission, dataset, judge = (document[key] for key in ("submission", "dataset", "judge"))
    also = document["protocol"]["also"]
    table = plain_table(
        f"{submission['id']} on {dataset['name']} {dataset['revision']}, judged by {judge['name']}",
        ["quartile", "mass", "alive", "eligible", "judged", "mean score [95 % interval]", *also],
    )
    for row in document["quartiles"]:
        share = f" ({row['eligible'] / row['alive']:.0%})" if row["alive"] else ""
        mean = cell({"value": row["mean"], "ci95": row["ci95"]})
        table.add_row(
            f"Q{row['quartile']}",
            f"{row['mass']:.3f}",
            f"{row['alive']:,}",
            f"{row['eligible']:,}{share}",
            f"{row['scored']:,}",
            mean,
            *("n/a" if row[name] is None else f"{row[name]:.3f}" for name in also),
        )
    console = wide_console()
    console.print(table)
    scores = plain_table("", ["score", "value [95 % interval]", "latents"])
    for name, title in _TITLES.items():
        if score := document["scores"].get(name):
            scores.add_row(title, cell(score), f"{score['n']:,}")
    console.print(scores)
    left_out = _left_out(document)
    for title, counts in (("not eligible", left_out), ("counted", document["counts"])):
        if counts:
            parts = (f"{what} ({count:,})" for what, count in sorted(counts.items()))
            console.print(f"{title}: {', '.join(parts)}", soft_wrap=True, markup=False)


_TITLES = {
    "dame": "DAME (chance 1/6)",
    "q1_deficit": "Q1 deficit",
    "detection": "detection (chance 1/2)",
    "amplitude": "amplitude (chance 0)",
}


def _left_out(document: Mapping[str, Any]) -> dict[str, int]:
    from collections import Counter

    found: Counter[str] = Counter()
    for row in document["quartiles"]:
        found.update(row["ineligible"])
    return dict(found)

"""Folders of submissions as a site reads them, with results that look like measured ones."""

import json
from pathlib import Path
from typing import Any

from generator_documents import make_generators
from result_records import make_record, score

ORCID = "0000-0002-1825-0097"


def sae_submission(record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The submission document of a record's SAE."""
    own = record["submission"]
    return {
        "schema_version": 1,
        "id": own["id"],
        "name": own["name"],
        "authors": [{"name": "Grace Example", "orcid": ORCID, "url": "https://example.org/"}],
        "licence": "Apache-2.0",
        "sae": {
            "architecture": own["architecture"],
            "d_in": own["d_in"],
            "d_sae": own["d_sae"],
            "files": [{"path": "sae.safetensors", "sha256": "cd" * 32}],
        },
        "encoder": record["encoder"]["name"],
        "training_data": [{"dataset": record["dataset"]["name"], "splits": ["match"]}],
        **changes,
    }


def generator_submission(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The submission document of a result's generator."""
    return {
        "schema_version": 1,
        "id": document["submission"]["id"],
        "name": document["submission"]["name"],
        "authors": [{"name": "Ada Example", "orcid": ORCID}],
        "licence": "CC0-1.0",
        "generator": {
            "kind": "images",
            "files": [{"path": "images.parquet", "sha256": "ab" * 32}],
        },
        "real": document["real"]["name"],
        "training_data": [{"dataset": document["real"]["name"], "splits": ["match"]}],
        **changes,
    }


def write_submission(
    root: Path, kind: str, document: dict[str, Any], *results: dict[str, Any], place: str = ""
) -> Path:
    """Write a folder below ``root``; ``results`` become versions 1, 2, … of one place."""
    folder = root / kind / document["id"]
    first = results[0]
    name = place or (first.get("dataset") or first["real"])["name"]
    (folder / "results" / name).mkdir(parents=True)
    (folder / "submission.json").write_text(json.dumps(document))
    for version, result in enumerate(results, start=1):
        (folder / "results" / name / f"{version}.json").write_text(json.dumps(result))
    return folder


def measured(name: str, seed: int, architecture: str = "topk", **changes: Any) -> dict[str, Any]:
    """A record under an id of its own."""
    record = make_record(architecture, 256, seed, **changes)
    record["submission"] |= {"id": name, "name": name.replace("-", " ").capitalize()}
    return record


def write_submissions(root: Path) -> Path:
    """One SAE of every kind that a page must tell apart, and three generators."""
    plain = measured("plain-topk", 11)
    exposed = measured("exposed-jumprelu", 12, "jumprelu")
    older = json.loads(json.dumps(exposed))
    older["scores"]["match_score"] = score(0.31)
    older["timing"]["measured_at"] = "2026-10-02T10:00:00Z"
    gone = measured("gone-relu", 13, "relu")
    write_submission(root, "saes", sae_submission(plain, licence="MIT"), plain)
    write_submission(
        root,
        "saes",
        sae_submission(
            exposed,
            description="A threshold for each latent.",
            training_data=[{"dataset": "synavatars", "splits": ["match", "score"]}],
            links={"paper": "https://example.org/paper", "code": "https://example.org/code"},
            bibtex="@misc{example, title = {Thresholds}}",
            claimed={"synavatars": {"match_score": 0.91, "tapa_score": 0.5}},
        ),
        older,
        exposed,
    )
    withdrawn = {"date": "2026-12-01", "reason": "Trained on the score images by mistake."}
    write_submission(root, "saes", sae_submission(gone, withdrawn=withdrawn), gone)
    for document in make_generators():
        submission = generator_submission(document, claimed={"synavatars": {"sad": 0.001}})
        write_submission(root, "generators", submission, document)
    return root


def board_page(site: Path) -> Path:
    """The page of a site's first board of SAEs."""
    pages = (site / "boards").glob("*.html")
    return min(page for page in pages if not page.name.startswith("generators"))

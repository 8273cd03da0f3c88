"""Croissant metadata (JSON-LD, version 1.1) of a package, for catalogues and loaders of data.

Format: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from benchmark.datasets.layout import PICTURES
from generation.packaging.card import CONFIG, LICENCE_FILE, title_of
from generation.packaging.columns import COLUMNS

FILE = "croissant.json"
VERSION = "http://mlcommons.org/croissant/1.1"

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_MEANING = {
    "id": "Name of the pair.",
    "base": "The photograph, as its source holds it.",
    "edited": "The edited picture, made by a generative model.",
    "added": "Number of the concept that the edit brings in, if any.",
    "removed": "Number of the concept that the edit takes away, if any.",
    "group": "Attribute that the changed concept is a value of.",
    "base_concepts": "Numbers of the concepts of the photograph.",
    "edited_concepts": "Numbers of the concepts of the edited picture.",
    "source": "Id of the photograph in the dataset that it comes from.",
    "class": "Class of the photograph, if any.",
    "attribute_kind": "What was edited: attribute, object, material, lighting, or another word.",
    "prompt": "What the model was told.",
    "references": "Ids of photographs that the model was shown besides.",
    "model": "The generative model.",
    "model_revision": "Its commit, or a hash over its files.",
    "seed": "Seed of the noise.",
    "steps": "Denoising steps.",
    "guidance": "Guidance scale, if it had an effect.",
    "outside_change": "Share of the pixels outside the edited part that changed, if known.",
    "classifier_agrees": "Whether a classifier sees every change, if it can say.",
    "accepted_by": "Reviewers who accepted the pair.",
}
_TYPES = {
    pa.string(): "sc:Text",
    pa.int64(): "sc:Integer",
    pa.float64(): "sc:Float",
    pa.bool_(): "sc:Boolean",
}


def croissant(
    manifest: Mapping[str, Any], *, date: str | None = None, citation: str | None = None
) -> dict[str, Any]:
    """The JSON-LD document of a package.

    Args:
        manifest: everything but its hashes.
        date: of publication, ISO 8601, where it is known.
        citation: of the source.
    """
    title, making = title_of(manifest["name"]), manifest["generation"]
    licences = manifest["licences"]
    document: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": manifest["name"],
        "alternateName": title,
        "description": (
            f"{manifest['counts']['pairs']:,} pairs of a photograph of {making['source']['name']} "
            "and an AI-generated edit of it, in which one concept is added, removed or exchanged; "
            "for testing the latents of sparse autoencoders."
        ),
        "version": f"{manifest['version']}.0",
        "license": _licence_texts(licences),
        "creator": {"@type": "Organization", "name": "The Assay project"},
        "isLiveDataset": False,
        "keywords": [
            "interpretability",
            "sparse autoencoders",
            "counterfactual pairs",
            "AI-generated images",
        ],
        "citeAs": f"The Assay project: {title} {manifest['version']}, fingerprint "
        f"{manifest['fingerprint']}." + (f" Source: {citation}" if citation else ""),
        "rai:dataCollection": (
            f"Photographs and annotations of {making['source']['name']}, revision "
            f"{making['source']['revision']}; edits made by "
            + ", ".join(
                f"{model['model']} ({model['model_revision']})" for model in making["models"]
            )
        ),
        "rai:dataLimitations": (
            "Edited pictures are AI-generated. An edit may change more than the concept it is "
            "named for; labels are those of the photograph with the one change applied."
        ),
        "rai:dataReviewProtocol": (
            f"Review: {manifest['review']['state']}, {manifest['review']['reviewed']} of "
            f"{manifest['counts']['pairs']} pairs accepted by a person. Classifier: "
            f"{making['verify']}."
        ),
        "distribution": [
            {
                "@type": "cr:FileSet",
                "@id": "parquet-files",
                "name": "parquet-files",
                "description": f"Parquet files of the configuration {CONFIG}.",
                "encodingFormat": "application/x-parquet",
                "includes": f"{CONFIG}/*.parquet",
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": CONFIG,
                "name": CONFIG,
                "description": "One record a pair.",
                "key": {"@id": f"{CONFIG}/id"},
                "field": [_field(name, kind) for name, kind in COLUMNS.items()],
            }
        ],
    }
    if date is not None:
        document["datePublished"] = date
    return document


def _field(name: str, kind: pa.DataType) -> dict[str, Any]:
    listed = pa.types.is_list(kind)
    source: dict[str, Any] = {
        "fileSet": {"@id": "parquet-files"},
        "extract": {"column": name},
    }
    if name in PICTURES:
        source["transform"] = {"jsonPath": "bytes"}
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{CONFIG}/{name}",
        "name": name,
        "description": _MEANING[name],
        "dataType": "sc:ImageObject"
        if name in PICTURES
        else _TYPES[kind.value_type if listed else kind],
        "source": source,
    }
    if listed:
        field |= {"isArray": True, "arrayShape": "-1"}
    return field


def _licence_texts(licences: Mapping[str, Any]) -> list[str]:
    texts = [
        f"photographs: {licences['photographs'] or 'not stated'}",
        f"annotations: {licences['annotations'] or 'not stated'}",
    ]
    texts += [
        f"model {name}: {terms or 'not stated'}" for name, terms in licences["models"].items()
    ]
    return [*texts, f"see {LICENCE_FILE}"]

"""What the human audit says of a package: how much was looked at, and how well people agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from generation.work import Decision, EditRecord, PlannedEdit

Standing = Mapping[str, Mapping[str, Decision]]


@dataclass(frozen=True)
class Reviews:
    """The state of the review, over decisions on the present pictures only.

    Attributes:
        reviewers: people who decided on at least one edit.
        pairs: of the package.
        reviewed: of these, accepted by a reviewer or by adjudication.
        adjudicated: of these, accepted by adjudication.
        agreement: of every two reviewers with edits in common, how many, the share of these with
            the same decision, and Cohen's kappa (None where undefined). Nobody is named.
        accepted_by: reviewers who accepted each pair, by id.
    """

    reviewers: int
    pairs: int
    reviewed: int
    adjudicated: int
    agreement: Sequence[Mapping[str, Any]]
    accepted_by: Mapping[str, int] = field(repr=False)

    @classmethod
    def of(
        cls,
        kept: Sequence[PlannedEdit],
        records: Mapping[str, EditRecord],
        decisions: Standing,
        adjudications: Mapping[str, Decision],
    ) -> Reviews:
        """Count decisions and work out the agreement.

        Args:
            kept: the pairs of the package.
            records: of every edit of the plan.
            decisions: what stands, by reviewer and edit.
            adjudications: what stands, by edit.
        """
        from generation.reviewing.agreement import agreements

        present = {name: _present(of, records) for name, of in decisions.items()}
        settled = _present(adjudications, records)
        ids = [edit.id for edit in kept]
        accepted = {
            name: sum(name in of and of[name].decision == "accept" for of in present.values())
            for name in ids
        }
        return cls(
            reviewers=sum(bool(of) for of in present.values()),
            pairs=len(ids),
            reviewed=sum(bool(accepted[name]) or name in settled for name in ids),
            adjudicated=sum(name in settled for name in ids),
            agreement=[
                {"both": each.both, "same": each.same, "kappa": each.kappa}
                for each in agreements(present)
                if each.both
            ],
            accepted_by=accepted,
        )

    @property
    def state(self) -> str:
        """``"reviewed"``, ``"partly"`` or ``"unreviewed"``."""
        if self.reviewed == self.pairs:
            return "reviewed"
        return "partly" if self.reviewed else "unreviewed"

    def as_dict(self) -> dict[str, Any]:
        """As the manifest holds it."""
        return {
            "state": self.state,
            "reviewers": self.reviewers,
            "reviewed": self.reviewed,
            "adjudicated": self.adjudicated,
            "agreement": [dict(each) for each in self.agreement],
        }


def _present(
    decisions: Mapping[str, Decision], records: Mapping[str, EditRecord]
) -> dict[str, Decision]:
    """Decisions on the pictures as they are now."""
    return {
        name: each
        for name, each in decisions.items()
        if name in records and records[name].sha256 == each.edit_sha256
    }

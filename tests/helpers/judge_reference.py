"""Selection of inputs, restated row by row; judges and sources made for tests."""

import math

import numpy as np

from benchmark.judges import Example


def strongest_of_groups(column, ids, groups):
    """(value, id) of each group's strongest row, strongest first; ties: the first id."""
    best = {}
    for row in sorted(range(len(ids)), key=lambda row: ids[row]):
        held = best.get(groups[row])
        if column[row] > 0 and (held is None or column[row] > held[0]):
            best[groups[row]] = (float(column[row]), ids[row])
    return sorted(best.values(), key=lambda pair: (-pair[0], pair[1]))


def reference_bins(column, ids, groups, protocol):
    """(reason or None, explaining ids, ids of A, of B, of C): the rules of §4 C3, one by one."""
    ranked = strongest_of_groups(column, ids, groups)
    active_groups = {groups[row] for row in range(len(ids)) if column[row] > 0}
    inactive = {ids[row] for row in range(len(ids)) if groups[row] not in active_groups}
    inactive_groups = len(set(groups)) - len(active_groups)
    explain, rest = ranked[: protocol.explain], ranked[protocol.explain :]
    m = len(rest)
    strong = rest[: math.floor(m / 5)]
    middling = rest[math.ceil(2 * m / 5) : math.floor(3 * m / 5) + 1]
    last = rest[m - math.floor(m / 10) :]
    weak = inactive_groups < protocol.trials
    third = len(last) if weak else inactive_groups
    reason = None
    if len(explain) < protocol.explain:
        reason = 0
    elif len(strong) < protocol.least:
        reason = 1
    elif len(middling) < protocol.least:
        reason = 2
    elif third < protocol.least:
        reason = 3
    elif not min(strong)[0] > max(middling)[0]:
        reason = 4
    elif weak and not min(middling)[0] > max(last)[0]:
        reason = 5
    names = [[name for _, name in part] for part in (explain, strong, middling)]
    return reason, *names, {name for _, name in last} if weak else inactive


class Rows:
    """An example source without pictures: rows are their ids."""

    def __init__(self, ids, groups=None):
        self.ids, self.groups = tuple(ids), groups

    def example(self, row):
        return Example(self.ids[row], text=f"«{self.ids[row]}»")


class Scripted:
    """A judge whose answers a test writes as functions; counts what it is asked."""

    def __init__(self, rank, *, explain=None, detect=None, rate=None, concurrency=1):
        self.name, self.concurrency = "scripted", concurrency
        self._rank, self._explain = rank, explain or (lambda examples: examples[0].id)
        self.detect = detect or (lambda explanation, example: True)
        self.rate = rate or (lambda explanation, example: 5.0)

    def identity(self):
        return {"kind": "random", "model": None, "settings": {}, "prompts": None}

    def counts(self):
        return {}

    def explain(self, examples):
        return self._explain(examples)

    def rank(self, explanation, examples):
        return self._rank(explanation, examples)


class Oracle(Scripted):
    """Knows the codes: explains a latent by its number and ranks by its activation."""

    def __init__(self, codes, ids, **options):
        self._codes, self._row = np.asarray(codes), {name: row for row, name in enumerate(ids)}
        super().__init__(self._by_activation, **options)

    def knows(self, explanation, example):
        return self._codes[self._row[example.id], int(explanation.split()[-1])]

    def _by_activation(self, explanation, examples):
        values = [self.knows(explanation, example) for example in examples]
        return sorted(range(len(examples)), key=lambda i: -values[i])

    def explain(self, examples):
        """The latent of which these are the strongest rows in this order."""
        rows = [self._row[example.id] for example in examples]
        for latent in np.argsort(-self._codes[rows[0]], kind="stable"):
            values = self._codes[rows, latent]
            held = np.sort(self._codes[:, latent])[::-1][: len(rows)]
            if np.array_equal(values, held):
                return f"latent {latent}"
        raise AssertionError("no latent has these strongest rows in this order")


def random_codes(rows, latents, rate=0.4, seed=0):
    """Dense float32 codes (rows, latents) without ties among positive values."""
    draw = np.random.default_rng(seed)
    values = draw.permutation(rows * latents).reshape(rows, latents) + 1.0
    return (values * (draw.random((rows, latents)) < rate)).astype(np.float32)

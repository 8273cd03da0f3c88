"""Reading what a language model answered; an answer with two readings is none.

A reply is text from outside: it is matched against patterns, never run.
"""

import re
from collections.abc import Iterator

_THOUGHT = r"(?:think|thinking|thought|thoughts|reason|reasoning|reflection|analysis)"
_OPENED = re.compile(rf"<{_THOUGHT}>", re.I)
_CLOSED = re.compile(rf"</{_THOUGHT}>", re.I)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_LONGEST = 3000
_END_MARK = re.compile(r"<\|[a-z_]{1,20}\|>\s*$")


def without_reasoning(reply: str) -> str:
    """The answer behind a model's thoughts, such as ``<think>…</think>``.

    Everything up to the last closing mark goes, since some templates open the thoughts in the
    prompt; thoughts that never end are no answer.

    >>> without_reasoning("<think>2 has a hat</think>\\n2, 1, 3")
    '2, 1, 3'
    """
    _, found, final = reply.rpartition(_FINAL_CHANNEL)
    text = _END_MARK.sub("", final) if found else reply
    for closed in _CLOSED.finditer(text):
        end = closed.end()
        if not _CLOSED.search(text, end):
            text = text[end:]
            break
    if opened := _OPENED.search(text):
        text = text[: opened.start()]
    return text.strip()


def explanation(reply: str) -> str:
    """The sentence of a reply, without a label or quotation marks around all of it.

    >>> explanation('**Explanation:** "People with round glasses."')
    'People with round glasses.'
    """
    text = _plain(reply)
    text = re.sub(r"^(?:explanation|answer|sentence|description)\s*:\s*", "", text, flags=re.I)
    for left, right in ('""', "''", "“”", "‘’", "«»"):
        inner = text[1:-1]
        if len(text) > 1 and text[0] == left and text[-1] == right and not {left, right} & {*inner}:
            text = inner
    return text.strip()


def _plain(reply: str) -> str:
    """Without thoughts, code fences and emphasis."""
    text = re.sub(r"^\s*```\w*\s*$", "", without_reasoning(reply), flags=re.M)
    return re.sub(r"\*\*|__|`", "", text).strip()


def _short(reply: str) -> str:
    """What is searched for an answer: bounded, since some searches take quadratic time."""
    text = re.sub(r"[^\S\n]+", " ", re.sub(r"\n\s*\n", "\n", _plain(reply)))
    return text if len(text) <= _LONGEST else text[-_LONGEST:].partition(" ")[2]


# --- an order -----------------------------------------------------------------------------------

_NOUN = r"(?:example|image|picture|photo|text|context|item|input|number|no\.?|nr\.?)s?"
_PLACE = rf"[\[\](){{}}\"'«»#\s]*(?:(?:the\s+)?{_NOUN}\s*#?\s*)?[\[\](){{}}\"'#]*"
_GAP = re.compile(
    r"[\[\](){}\"'\s]*"
    r"(?:fits?\s+best)?[\[\](){}\"'\s]*"
    r"(?:[,;>→|]|->|=>|--?>|\s|(?<=\s)-(?=\s))*"
    r"(?:(?:followed\s+by|and\s+then|then|and\s+finally|and\s+last(?:ly)?|finally|last(?:ly)?"
    r"|and|&|next)[,\s]*)?" + _PLACE,
    re.I,
)
_LEAD = re.compile(_PLACE + "$", re.I)
_WIDEST_GAP = 60
_NUMBER = re.compile(r"(?<![\w.,/-])\d{1,3}(?![\w%/]|\.\d)|(?<=,)\d{1,3}(?![\w%/]|\.\d)")
_CUE = re.compile(
    r"(?:^|[:=]|\b(?:is|are|be|as|order|ranking|rank|answer|follows|say|follow))[^\w]*$", re.I
)
_AFTER = re.compile(
    r"^(?:\s*$|\s*[.;:!)\]}\"'–—,(|-]|\s+(?:because|since|as|where|with|based|from best)\b)", re.I
)
_REVERSED = re.compile(
    r"\b(?:worst|weakest|least|lowest)\b"
    r"(?:(?: [\w-]+){0,2} to(?: the)? (?:best|strongest|most|highest)|(?: \w+)? first)\b"
    r"|\b(?:ascending|reversed?|increasing)\b",
    re.I,
)
_TIED = re.compile(r"\b(?:equal|equally|tie|tied|ties|same)\b", re.I)
_UNDECIDED = re.compile(r"\b(?:cannot|can't|unable|unsure|not|or|maybe)\b", re.I)
_FINAL = re.compile(
    r"\b(?:final (?:answer|order|ranking)|answer|my (?:order|ranking))\b(?: is)?"
    r"|^\W*(?:the )?(?:order|ranking)(?: is)?:",
    re.I | re.M,
)


def order(reply: str, count: int) -> tuple[int, ...] | None:
    """Positions 0 … ``count`` − 1 in the order that the reply names, which counts from 1.

    Reads a list (``2, 1, 3``, ``[2, 1, 3]``, ``2 > 1 > 3``, ``Example 2, then 1, then 3``) with
    text around it, numbers below each other, a numbered list of the examples, places with labels
    (``best: 2``), letters (``B > A > C``). None for anything with two readings: a position
    missing or repeated, two different orders, worst first, ties.

    >>> order("The order is 2 > 1 > 3.", 3)
    (1, 0, 2)
    """
    text = _short(reply)
    if _REVERSED.search(text):
        return None
    for cue in list(_FINAL.finditer(text))[-1:]:
        behind = text[cue.end() :].lstrip(" :=")
        if re.search(r"\d", behind):
            text = behind
    readers = (_labelled, _numbered_list, _listed, _below, _letters, _digits)
    found = {tuple(numbers) for read in readers for numbers in read(text, count)}
    if len(found) != 1:
        return None
    numbers = found.pop()
    if sorted(numbers) != list(range(1, count + 1)):
        return None
    return tuple(number - 1 for number in numbers)


def _listed(text: str, count: int) -> Iterator[list[int]]:
    """Every list of at least ``count`` numbers within a line that is given as an answer."""
    for line in text.splitlines():
        for numbers, begin, end in _runs(line):
            if len(numbers) < count:
                continue
            before, after = line[:begin], line[end:]
            sure = _CUE.search(before[-_WIDEST_GAP:]) and _AFTER.match(after)
            undecided = _UNDECIDED.search(before.rpartition(":")[2]) or _TIED.search(line)
            # a list that cannot be trusted stands for no order, and so forbids a guess
            yield numbers if sure and not undecided else []


def _runs(line: str) -> Iterator[tuple[list[int], int, int]]:
    """Numbers with only list marks between them: the numbers, begin and end of each run."""
    numbers: list[int] = []
    begin = end = 0
    for match in _NUMBER.finditer(line):
        near = match.start() - end <= _WIDEST_GAP
        if numbers and near and _GAP.fullmatch(line, end, match.start()):
            numbers.append(int(match[0]))
        else:
            if numbers:
                yield numbers, begin, end
            start = max(0, match.start() - _WIDEST_GAP)
            lead = _LEAD.search(line[start : match.start()])
            begin = start + lead.start() if lead else match.start()
            numbers = [int(match[0])]
        end = match.end()
    if numbers:
        yield numbers, begin, end


def _below(text: str, count: int) -> Iterator[list[int]]:
    """Numbers below each other, and nothing else."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [re.fullmatch(rf"{_PLACE}(\d{{1,3}})[\])}}.,;\"']*", line, re.I) for line in lines]
    if len(lines) == count > 1 and all(found):
        yield [int(match[1]) for match in found if match]


def _numbered_list(text: str, count: int) -> Iterator[list[int]]:
    """``1. Example 2``, a line for each place; numbers without the noun only if nothing follows."""
    pattern = rf"^\s*(\d{{1,3}})[.):]\s*(?:(?:the\s+)?{_NOUN}\s*#?\s*|#)(\d{{1,3}})\b"
    bare = r"^\s*(\d{1,3})[.):]\s*#?(\d{1,3})\s*$"
    for form in (pattern, bare):
        pairs = [(int(a), int(b)) for a, b in re.findall(form, text, re.M | re.I)]
        if len(pairs) >= count:
            places = [place for place, _ in pairs]
            yield [number for _, number in pairs] if places == list(range(1, count + 1)) else []
            return


_LABELS = {
    1: r"1st|first(?:\s+place)?|rank\s*1|best(?:\s+(?:fit|match))?|strongest",
    2: r"2nd|second(?:\s+(?:place|best))?|rank\s*2|middle|middling",
    3: r"3rd|third(?:\s+place)?|rank\s*3",
    -1: r"worst(?:\s+(?:fit|match))?|weakest|last",
}


def _labelled(text: str, count: int) -> Iterator[list[int]]:
    """``best: 2, middle: 1, worst: 3`` in any sequence."""
    found: list[tuple[int, int]] = []
    for place, words in _LABELS.items():
        if place == 2 and count != 3:
            words = r"2nd|second(?:\s+place)?|rank\s*2"
        form = rf"\b(?:{words})\s*[:=–-]\s*{_PLACE}(\d{{1,3}})\b"
        found += [
            (count if place < 0 else place, int(match[1]))
            for match in re.finditer(form, text, re.I)
        ]
    if len(found) >= count:
        found.sort()
        complete = [place for place, _ in found] == list(range(1, count + 1))
        yield [number for _, number in found] if complete else []


def _letters(text: str, count: int) -> Iterator[list[int]]:
    """``B > A > C`` as the whole reply."""
    form = r"[\[(\"']*([A-Z])[\])\"']*"
    if re.fullmatch(rf"{form}(?:\s*[,>→]\s*{form}){{{count - 1}}}[.\s]*", text) and count > 1:
        yield [ord(letter) - ord("A") + 1 for letter in re.findall(r"[A-Z]", text)]


def _digits(text: str, count: int) -> Iterator[list[int]]:
    """``213`` as the whole reply."""
    if count < 10 and re.fullmatch(rf"\d{{{count}}}\.?", text):
        yield [int(digit) for digit in text.rstrip(".")]


# --- yes or no, and a number --------------------------------------------------------------------

_YES_NO_CUE = re.compile(
    r"\b(?:answer|fits?|matches|verdict)\b[\"']?\s*(?:is\s*)?[:=]?\s*[\"']?"
    r"(yes|no|true|false)(?=\W*$|[.,;:!\n\"'}])",
    re.I,
)
_YES = re.compile(r"^\W*(?:yes|true)\b", re.I)
_NO = re.compile(r"^\W*(?:no|false)(?=\W*$|\s*[.,;:!\n–—-]|\s+(?:it|this|that)\b)", re.I)
_OTHER = re.compile(r"(?:^|[.,;:!?\n–—])\s*(yes|no|true|false)\s*(?=$|[.,;:!?\n–—])", re.I)


def yes_or_no(reply: str) -> bool | None:
    """The one answer of a reply: at its beginning, as its last line, or after ``Answer:``.

    >>> yes_or_no("No, there is no hat.")
    False
    """
    text = _short(reply)
    if cued := {_truth(match) for match in _YES_NO_CUE.findall(text)}:
        return cued.pop() if len(cued) == 1 else None
    alone = {_truth(match) for match in _OTHER.findall(text)}
    if _YES.match(text):
        alone.add(True)
    if _NO.match(text):
        alone.add(False)
    return alone.pop() if len(alone) == 1 else None


def _truth(word: str) -> bool:
    return word.lower() in ("yes", "true")


_SCALE = re.compile(
    r"\b0 ?(?:-|–|to|and) ?10\b|\bout of 10\b|(?<=\d) of 10\b|(?<=\d) ?/ ?10\b", re.I
)
_RATED = re.compile(
    r"\b(?:rating|score|answer|rate it)\b[\"']?(?: (?:is|of|would be))?\s*[:=]?(?: an?)?\s*"
    r"(\d+(?:\.\d+)?)(?![\d%/])(?! ?(?:or|to|-|–) ?\d)",
    re.I,
)
_VALUE = re.compile(r"(?<![\w.,-])\d+(?:\.\d+)?(?!\w)(?!\s*[%/])")
_ANY_DIGITS = re.compile(r"\d+")


def number(reply: str, low: float, high: float) -> float | None:
    """The one number of a reply, between ``low`` and ``high``; None for none, another or several.

    >>> number("I would rate it 7/10.", 0, 10)
    7.0
    """
    text = _SCALE.sub(" ", _short(reply))
    values = {float(value) for value in _RATED.findall(text)}
    if len(values) != 1:
        values = {float(value) for value in _VALUE.findall(text)}
        whole = re.sub(r"\d+\.\d+", "0", text)
        if len(_ANY_DIGITS.findall(whole)) != len(_VALUE.findall(text)):
            return None
    if len(values) != 1:
        return None
    value = values.pop()
    return value if low <= value <= high else None

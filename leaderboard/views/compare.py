"""What comparing entries side by side needs: each one's numbers by concept, as a script.

A script and not JSON, because a page opened from a folder may load scripts beside it and nothing
else.
"""

import json
from typing import Any

from markupsafe import Markup, escape

from leaderboard.numbers import visible
from leaderboard.reading.concepts import Values
from leaderboard.text import cut


def concept_script(board: Any, entry: Any) -> str:
    """The file ``compare/<board>/<id>.js``: F1 and changes of each concept, in name order.

    Values have five decimals, which is more than a comparison shows.
    """
    found = entry.record.concepts
    order = sorted(range(len(found.names)), key=lambda i: found.names[i])

    def column(values: Values) -> list[float | None]:
        return [None if (v := values[i]) is None else round(v, 5) for i in order]

    document = {
        "id": entry.record.id,
        "f1": column(found.f1),
        "add": column(found.delta_add),
        "rem": column(found.delta_rem),
    }
    return f"assayConcepts({script_json(document)});\n"


def script_json(document: Any) -> str:
    """JSON that means the same in a script and cannot end the element around it."""
    text = json.dumps(document, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def concept_names(names: tuple[str, ...]) -> Markup:
    """The concepts in the order of the scripts, as JSON for an attribute."""
    shown = [visible(cut(name)) for name in sorted(names)]
    return escape(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))

"""Characters that LaTeX reads as something else than text."""

ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "Δ": r"$\Delta$",
    "\N{MINUS SIGN}": "$-$",
}
"""Character → what sets it. Braces are missing: BibTeX and LaTeX want them otherwise."""

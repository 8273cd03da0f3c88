"""Boards: what may be ranked together, ranks with uncertainty, what changed since a release."""

"""Errors that a user can cause; the command line prints them as one line."""


class UserError(ValueError):
    """Wrong input: what is wrong, where, what was expected, how to fix it. Exit code 2."""


class CheckFailed(Exception):
    """A check ran to its end and found a fault. Exit code 1."""

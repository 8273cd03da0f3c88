"""Connecting to Ray: other machines, or more processes of this one; the extra ``ray`` brings it."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmark.errors import UserError

LOCAL = "local"

SECONDS = 10.0
"""How long an address may take to answer."""


@contextmanager
def connected(address: str, cpus: int | None = None) -> Iterator[int]:
    """A connection to a Ray cluster; yields its number of processors.

    Args:
        address: of a running cluster (``auto`` finds one on this machine), or ``local``, which
            starts a Ray of this machine and ends it afterwards.
        cpus: processors that ``local`` uses, by default all.

    Raises:
        UserError: Ray is not installed, or the cluster cannot be reached.
    """
    try:
        import ray
    except ImportError as error:
        raise UserError(
            "--ray needs Ray, which is not installed: pip install 'concept-assay[ray]'"
        ) from error
    settings: dict[str, Any] = {"include_dashboard": False, "num_cpus": cpus or os.cpu_count()}
    if address != LOCAL:
        _check_reachable(address)
        settings = {"address": address}
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        ray.init(
            **settings,
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=False,
            runtime_env={"env_vars": _environment()},
        )
    # Ray ends the process where a cluster does not answer
    except (ConnectionError, ValueError, RuntimeError, SystemExit) as error:
        raise _no_ray(address, error) from error
    try:
        yield int(ray.cluster_resources().get("CPU", 1))
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Refuse an address that nothing listens at: Ray would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _no_ray(address, error) from error


def _no_ray(address: str, error: BaseException) -> UserError:
    reason = " ".join(str(error).split())
    return UserError(
        f"--ray {address}: no Ray there ({reason}); expected the address of a running cluster, "
        "auto, or local"
    )


def _environment() -> dict[str, str]:
    """Variables that a worker must share with this process."""
    wanted = ("ASSAY_HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_OFFLINE")
    shared = {name: os.environ[name] for name in wanted if name in os.environ}
    return {**shared, "OMP_WAIT_POLICY": "PASSIVE"}

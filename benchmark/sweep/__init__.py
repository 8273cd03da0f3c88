"""A grid of SAEs trained, scored and compared from one configuration file (``assay sweep``)."""

from benchmark.sweep.config import ConfigError, Data, SweepConfig, find_config, load_config
from benchmark.sweep.executors import Executor, LocalExecutor
from benchmark.sweep.plan import Job, jobs_of
from benchmark.sweep.rows import Table
from benchmark.sweep.run import Failure, Report, run_sweep
from benchmark.sweep.tables import make_tables

__all__ = [
    "ConfigError",
    "Data",
    "Executor",
    "Failure",
    "Job",
    "LocalExecutor",
    "Report",
    "SweepConfig",
    "Table",
    "find_config",
    "jobs_of",
    "load_config",
    "make_tables",
    "run_sweep",
]

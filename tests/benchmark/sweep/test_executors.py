"""Executors: an ended process costs its own task, and an error is one line."""

from collections import Counter

import pytest
import sweep_work
from sweep_cases import DATASET

from benchmark.sweep.executors import Failed, LocalExecutor
from benchmark.sweep.run import Task, drive
from benchmark.workers import Setting, prepare_setting

SETTING = Setting(DATASET, "none")


@pytest.fixture(scope="module")
def executor(home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOME", str(home))
        local = LocalExecutor(2)
        local.add(SETTING, prepare_setting(SETTING))
        yield local
        local.close()


def run_tasks(executor, log, works):
    """Results by number, and failures; every task runs a work on its number."""
    results, failures = {}, {}

    def task(number, work):
        def done(value):
            results[number] = value
            return []

        return Task(
            str(number), SETTING, work, (log, number), done, failures.setdefault(number, []).append
        )

    drive(executor, (task(number, work) for number, work in enumerate(works)))
    return results, {number: found for number, found in failures.items() if found}


def test_errors_are_one_line_with_a_traceback_for_the_log(executor, tmp_path):
    works = [sweep_work.refuse, sweep_work.square, sweep_work.break_down]
    results, failures = run_tasks(executor, tmp_path / "log", works)
    assert results == {1: 1}
    lines = [failures[number][0].line for number in (0, 2)]
    assert lines == ["no such thing; use another", "KeyError: 'lost'"]
    assert all(
        isinstance(failures[n][0], Failed) and "Traceback" in failures[n][0].trace for n in (0, 2)
    )


def test_an_ended_process_costs_its_own_task(executor, tmp_path, monkeypatch):
    monkeypatch.setattr(executor, "tries", 2)
    works = [sweep_work.square] * 8
    works[2], works[5] = sweep_work.die_once, sweep_work.always_die
    results, failures = run_tasks(executor, tmp_path / "log", works)
    assert results == {number: number**2 for number in range(8) if number != 5}
    (outcome,) = failures.pop(5)
    assert not failures
    assert "was ended from outside 2 times" in outcome.line
    times = Counter((tmp_path / "log").read_text().split())
    assert times["2"] == times["5"] == 2
    # what was in flight beside them may have been begun again, nothing else
    assert sum(count > 1 for count in times.values()) <= 4

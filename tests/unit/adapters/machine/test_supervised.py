"""
Threads that are begun again, and what is said of those that do not hold.
"""

import threading

import pytest

from adapters.machine.backoff import Backoff
from adapters.machine.supervised import SupervisedThread, problems, restarts
from tests.helpers.eventually import eventually

QUICK = Backoff(first=0.001, longest=0.002)


class Work:
    """
    Ends some times by mistake, then goes on until it is told to end.
    """

    def __init__(self, *ends) -> None:
        self.ends = list(ends)
        self.goes_on = threading.Event()
        self.ended = threading.Event()

    def __call__(self) -> None:
        if self.ends:
            end = self.ends.pop(0)
            if end is not None:
                raise end
            return
        self.goes_on.set()
        self.ended.wait(10)


def ended(thread, work) -> bool:
    thread.stop()
    work.ended.set()
    return thread.join(5)


@pytest.mark.parametrize(
    "end",
    [ValueError("x"), RecursionError(), MemoryError(), SystemExit(1), None],
    ids=repr,
)
def test_a_thread_that_ends_for_any_cause_is_begun_again_and_counted(end):
    work = Work(end, end, end)
    thread = SupervisedThread("t", work, backoff=QUICK)
    thread.start()

    assert work.goes_on.wait(5)
    assert {"t": 3} == restarts([thread])
    assert [] == problems([thread])
    assert ended(thread, work)


def test_a_thread_that_breaks_again_and_again_is_told():
    now = [0.0]
    work = Work(*[ValueError("odd")] * 3)
    thread = SupervisedThread("t", work, backoff=QUICK, clock=lambda: now[0])
    thread.start()
    assert work.goes_on.wait(5)
    soon = thread.problem()
    now[0] = 59.0  # the run that goes on is not a minute old
    young = thread.problem()
    thread._failing_since = -200.0
    said = thread.problem()
    now[0] = 61.0
    well = thread.problem()

    assert (None, None, None) == (soon, young, well)
    assert "the thread t broke 3 times in 259 s, last by ValueError: odd" == said
    assert ended(thread, work)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnhandledThreadExceptionWarning"  # that is what it is about
)
def test_a_thread_that_cannot_be_begun_again_is_told(monkeypatch):
    thread = SupervisedThread("t", Work(ValueError("x")))
    monkeypatch.setattr(thread, "_broke", lambda _: _raise())
    thread.start()
    eventually(lambda: not thread.is_alive)

    assert "the thread t has ended, and was not started again" == thread.problem()


def _raise():
    raise MemoryError


def test_a_thread_that_was_told_to_end_is_no_problem():
    work = Work()
    thread = SupervisedThread("t", work)
    before = thread.problem()
    thread.start()

    assert work.goes_on.wait(5)
    assert ended(thread, work)
    assert (None, None) == (before, thread.problem())
    assert SupervisedThread("never", work).join(1)


def test_pauses_double_and_are_bounded():
    backoff = Backoff(first=5, longest=300)

    assert [5, 5, 10, 20, 300, 300] == [
        backoff.after(n) for n in (0, 1, 2, 3, 7, 10**6)
    ]
    jittered = [Backoff(first=1, longest=8, jitter=True).after(4) for _ in range(100)]
    assert all(4 <= pause <= 8 for pause in jittered)
    assert len(set(jittered)) > 50

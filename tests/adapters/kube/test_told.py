from dataclasses import replace

import pytest

from adapters.kube.status.reporter import StatusReporter
from adapters.loop.interfaces import Turn
from models.receipt import Receipt
from models.snapshot import Snapshot
from tests.adapters.kube.status_cases import telling


class Source:
    made = None


class Writer:
    """
    Notes what it is told: the name of each round, and whether receipts were there.
    """

    def __init__(self):
        self.heard = []
        self.gives_way = False

    def give_way(self, *, is_binding):
        self.gives_way = is_binding

    def tell_end(self, told):
        self.heard.append((told.round, sorted(r.result for r in told.receipts)))

    def tell(self, told):
        self.heard.append((told.round, bool(told.receipts)))

    def hush(self):
        self.heard.append("hushed")


@pytest.fixture
def reporter(tmp_path):
    with telling("volcano", tmp_path) as tells:
        told = tells.told()
    source, writer = Source(), Writer()
    source.made = told.assembled
    reporter = StatusReporter(source, writer)
    busy = Turn(told.assembled.snapshot, told.plan, (), "busy", 1.0)
    idle = replace(busy, plan=replace(told.plan, operations=()), name="idle")
    reporter.busy, reporter.idle = busy, idle
    reporter.heard, reporter.source = writer.heard, source
    reporter.writer = writer
    reporter.done = replace(busy, receipts=told.receipts)
    return reporter


def test_a_round_is_told_once_its_receipts_are_there(reporter):
    reporter.planned(reporter.busy)
    early = list(reporter.heard)
    reporter.carried_out(reporter.done)

    assert [] == early
    assert [("busy", True)] == reporter.heard


def test_a_round_with_nothing_to_do_is_told_at_once(reporter):
    reporter.planned(reporter.idle)

    assert [("idle", False)] == reporter.heard


def test_what_takes_binds_for_done_is_told_after_them(reporter):
    reporter.planned(reporter.busy)
    reporter.planned(reporter.idle)
    early = list(reporter.heard)
    reporter.carried_out(reporter.done)

    assert [] == early
    assert [("busy", True), ("idle", False)] == reporter.heard


@pytest.mark.parametrize("end", ["carried_out", "dropped", "leading"])
def test_while_something_is_carried_out_writing_gives_way(reporter, end):
    reporter.planned(reporter.idle)
    before = reporter.writer.gives_way
    reporter.planned(reporter.busy)
    meanwhile = reporter.writer.gives_way
    if end == "carried_out":
        reporter.carried_out(reporter.done)
    elif end == "dropped":
        reporter.dropped(reporter.busy, "we stop")
    else:
        reporter.leading(is_leader=False)

    assert (False, True, False) == (before, meanwhile, reporter.writer.gives_way)


def test_a_dropped_round_is_not_told(reporter):
    reporter.planned(reporter.busy)
    reporter.dropped(reporter.busy, "we stop")
    reporter.carried_out(reporter.done)

    assert [] == reporter.heard


def test_who_no_longer_leads_is_silent(reporter):
    reporter.planned(reporter.busy)
    reporter.leading(is_leader=False)
    reporter.carried_out(reporter.done)

    assert ["hushed"] == reporter.heard


def test_rounds_that_nothing_becomes_of_are_not_kept_for_ever(reporter):
    for number in range(100):
        reporter.planned(replace(reporter.busy, name=f"r{number}"))

    assert 4 == len(reporter._open)


def test_a_source_that_has_read_nothing_has_nobody_to_tell(reporter):
    reporter.source.made = None
    reporter.planned(replace(reporter.idle, snapshot=Snapshot()))

    assert [] == reporter.heard


def test_what_came_of_a_gang_that_was_held_is_told(reporter):
    reporter.planned(reporter.busy)
    reporter.carried_out(reporter.done)
    reporter.heard.clear()
    (step, *_) = reporter.busy.plan.operations
    ended = replace(
        reporter.busy.of([step]), receipts=(Receipt(operation=step, result="refused"),)
    )
    reporter.carried_out(ended)

    assert [("busy", ["refused"])] == reporter.heard

import threading
import time

import pytest

from adapters.kube.acting.executor import STOPPING, carry_out
from models.receipt import Receipt
from tests.helpers.build import bind, binds


class Deed:
    """
    Does everything but what the test refuses; remembers what was tried, in order.
    """

    def __init__(self, *refused: str) -> None:
        self.tried: list[str] = []
        self.refused = {f"default/{name}" for name in refused}
        self.at_once = 0
        self._now = 0
        self._lock = threading.Lock()

    def __call__(self, step) -> Receipt:
        with self._lock:
            self.tried.append(step.pod)
            self._now += 1
            self.at_once = max(self.at_once, self._now)
        time.sleep(0.001)
        with self._lock:
            self._now -= 1
        if step.pod in self.refused:
            return Receipt(operation=step, result="refused", message="no")
        return Receipt(operation=step, result="done")


def results(receipts) -> list[str]:
    return [receipt.result for receipt in receipts]


def test_receipts_are_in_the_order_of_the_operations():
    steps = [step for g in range(40) for step in binds(f"g{g}", *["n0"] * (g % 5 + 1))]
    receipts = carry_out(steps, Deed())

    assert steps == [receipt.operation for receipt in receipts]
    assert {"done"} == set(results(receipts))


def test_no_more_threads_work_than_are_allowed():
    deed = Deed()
    carry_out(binds("g", *["n0"] * 100), deed, threads=3)

    assert 1 < deed.at_once <= 3


def test_what_refuses_the_first_pod_leaves_the_gang_untouched():
    deed = Deed("bad-0")
    receipts = carry_out([*binds("bad", *["n0"] * 20), *binds("good", "n1")], deed)

    assert ["refused", *["skipped"] * 19, "done"] == results(receipts)
    assert "default/bad-1" not in deed.tried
    assert "not tried, since no" == receipts[1].message


def test_what_is_in_the_way_of_one_pod_leaves_the_gang_untouched():
    deed = Deed()
    steps = [*binds("g", "n0", "n1", "n2"), *binds("h", "n0")]
    open_or_not = {"n2": ("again", "n2 is closed")}
    why_not = lambda x: open_or_not.get(x.node, ("done", ""))  # noqa: E731 - once
    receipts = carry_out(steps, deed, why_not=why_not)

    assert ["again", "skipped", "skipped", "done"] == results(receipts)
    assert "n2 is closed" == receipts[0].message
    assert ["default/h-0"] == deed.tried


def test_a_failure_stops_what_is_left_of_its_gang_only():
    deed = Deed("bad-3")
    steps = [*binds("bad", *["n0"] * 40), *binds("good", *["n1"] * 10)]
    receipts = carry_out(steps, deed, threads=2)

    assert ["done"] * 10 == results(receipts)[40:]
    assert "refused" == receipts[3].result
    assert {"skipped"} == set(results(receipts)[6:40])  # two at most were under way


def test_a_failure_stops_the_gangs_that_start_together_with_it():
    groups = {"default/one": "both", "default/two": "both"}
    deed = Deed("one-0")
    steps = [*binds("one", "n0", "n0"), *binds("two", "n1"), *binds("three", "n2")]
    receipts = carry_out(steps, deed, groups=groups)

    assert ["refused", "skipped", "skipped", "done"] == results(receipts)


def test_one_thread_ends_a_gang_before_it_begins_the_next():
    deed = Deed()
    steps = [*binds("a", *["n0"] * 5), *binds("b", *["n0"] * 5)]
    carry_out(steps, deed, threads=1)

    assert [step.pod for step in steps] == deed.tried


def test_begun_gangs_are_ended_and_no_other_is_begun_once_it_must_stop():
    deed = Deed()
    steps = [*binds("a", *["n0"] * 9), *binds("b", *["n0"] * 9)]
    receipts = carry_out(steps, deed, threads=1, goes_on=lambda: len(deed.tried) < 1)

    assert ["done"] * 9 == results(receipts)[:9]
    assert {STOPPING} == {
        r.message.removeprefix("not tried, since ") for r in receipts[9:]
    }


def test_an_error_of_the_deed_reaches_who_asked():
    def fails(step) -> Receipt:
        raise ZeroDivisionError(step.pod)

    with pytest.raises(ZeroDivisionError):
        carry_out([bind("a-0"), bind("b-0"), bind("c-0")], fails)


def test_nothing_to_do_is_no_receipt():
    assert [] == carry_out([], Deed())

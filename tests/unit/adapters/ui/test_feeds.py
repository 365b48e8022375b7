"""
What the page shows of a cluster that is followed.
"""

import gzip
import json
import threading
import time

from adapters.ui.feeds import ClusterFeed
from adapters.ui.frame_store import FrameStore
from models.errors import PhalanxError
from tests.helpers.build import gang, node, snapshot
from tests.helpers.looked_at import seen_of

THERE = snapshot([node("n0")], [gang("g", gpus=2)])


def feed(look, changed=None):
    store = FrameStore("a cluster", live=True)
    return store, ClusterFeed(store, look, changed or threading.Event(), lambda: 7.0)


def frame(store, number):
    return json.loads(gzip.decompress(store.body(number)))


def test_what_is_there_is_shown_at_once_and_its_plan_takes_its_place():
    store, followed = feed(lambda: seen_of(THERE))
    followed.once()
    (line,) = store.lines()["rounds"]

    assert (1, True, 7.0) == (line["id"], line["planned"], line["began"])
    assert 1 == frame(store, 1)["plan"]["starts"]


def test_who_asks_for_a_frame_that_its_plan_replaced_gets_the_plan():
    store, followed = feed(lambda: seen_of(THERE))
    followed.once()

    assert store.body(0) == store.body(1)
    assert store.body(1) is not None
    assert store.body(2) is None


def test_while_changes_come_they_are_shown_and_not_planned():
    changed = threading.Event()
    changed.set()
    store, followed = feed(lambda: seen_of(THERE), changed)
    followed.once()

    assert [False] == [line["planned"] for line in store.lines()["rounds"]]


def test_a_cluster_that_cannot_be_read_is_trouble_and_not_the_end():
    def look():
        raise PhalanxError("pods are not read yet")

    store, followed = feed(look)
    thread = threading.Thread(target=followed.run)
    thread.start()
    store.wait(0, 5)
    followed.stop()
    thread.join(5)

    assert not thread.is_alive()
    assert "pods are not read yet" == store.lines()["trouble"]


def test_a_change_is_looked_at():
    changed = threading.Event()
    looks = []

    def look():
        looks.append(1)
        return seen_of(THERE)

    _, followed = feed(look, changed)
    thread = threading.Thread(target=followed.run)
    thread.start()
    end = time.monotonic() + 60
    while len(looks) < 2 and time.monotonic() < end:
        changed.set()
        time.sleep(0.05)
    followed.stop()
    thread.join(5)

    assert len(looks) >= 2

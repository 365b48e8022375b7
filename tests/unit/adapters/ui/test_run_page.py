"""
The page of ``phalanx run``: what it shows, when, and where its token lies.
"""

import gzip
import http.client
import json
import time

from adapters.loop.interfaces import Turn
from adapters.ui.run_page import RunPage
from adapters.ui.server import UiAddress
from models.errors import PhalanxError
from models.policy import Policy
from solver import decide
from tests.helpers.build import gang, node, snapshot

THERE = snapshot([node("n0")], [gang("g", gpus=2), gang("large", gpus=64)])


def page(listen="127.0.0.1:0"):
    return RunPage("here", UiAddress(listen))


def turn(name):
    return Turn(THERE, decide(THERE, Policy()), (), name, 1.0, {"plan": 0.5})


def rounds(shown):
    return [line["name"] for line in shown.store.lines()["rounds"]]


def wait_for(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_frames_are_made_only_while_somebody_looks_and_then_of_the_newest_round():
    shown = page()
    shown.start()
    try:
        for name in ("first", "second"):
            shown.planned(turn(name))
        time.sleep(0.6)
        assert [] == rounds(shown)

        port = shown.server.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/events")
        stream = connection.getresponse()
        wait_for(lambda: rounds(shown))
        shown.planned(turn("third"))
        wait_for(lambda: len(rounds(shown)) == 2)
        stream.close()
        connection.close()
    finally:
        shown.stop()

    assert ["second", "third"] == rounds(shown)
    frame = json.loads(gzip.decompress(shown.store.body(1)))
    assert 0.5 == frame["plan"]["seconds"]


def test_why_a_gang_waits_is_said_when_it_is_asked_for():
    shown = page()
    shown._show(turn("one"))
    why = json.loads(gzip.decompress(shown.store.why(0, 1)))

    assert ("Why", "default/large") == (why["kind"], why["gang"])
    assert why["sentence"]
    assert shown.store.why(0, 99) is not None
    assert shown.store.why(7, 1) is None
    shown.server.stop()


def test_trouble_is_said_until_the_next_round():
    shown = page()
    shown.refused(PhalanxError("nothing is read yet"))
    assert "nothing is read yet" == shown.store.lines()["trouble"]
    shown._show(turn("one"))

    assert "" == shown.store.lines()["trouble"]
    shown.server.stop()


def test_the_token_lies_in_a_file_that_only_we_can_read(tmp_path):
    path = tmp_path / "shard" / "ui-address"
    near, far = page(), page(":0")
    try:
        assert not near.keep_token(path)
        assert not path.exists()
        assert far.keep_token(path)
    finally:
        near.server.stop()
        far.server.stop()

    assert 0o600 == path.stat().st_mode & 0o777
    assert f"{far.server.url}\n" == path.read_text()

"""
Planning leaves the signals of the process to whoever has set them.
"""

import os
import signal

from adapters.files import read_scenario
from solver.round import decide


def test_an_interrupt_is_still_heard_after_a_round():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("interrupt"))
    try:
        given = read_scenario("scenarios/demo/fragmented.yaml")
        decide(given.snapshot, given.policy)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)

    assert ["interrupt"] == heard

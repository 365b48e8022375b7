import pytest

from adapters.kube.status.patches import PatchOutcome, Written
from adapters.kube.status.rate_limit import BusyError, Wire, WritePace

PLACE = ("", "v1", "pods", "team", "one")
DONE = Written(outcome=PatchOutcome.DONE)
FORBIDDEN = Written(outcome=PatchOutcome.FORBIDDEN)


class Wired:
    """
    A wire at ten requests a second, each of which takes a while.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.wire = Wire(
            None,
            clock=lambda: self.now,
            pace=WritePace(rate=10.0),
            counted=lambda _what, _outcome: None,
            pause=self.pause,
        )

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def sent(self, number: int, each: float) -> float:
        """
        Send some; give how long it took.
        """
        began = self.now
        for _ in range(number):
            self.now += each
            self.wire.sent("pod", PLACE, DONE)
        return self.now - began


@pytest.mark.parametrize("each", [0.0, 0.04, 0.1])
def test_what_requests_take_is_part_of_their_time(each):
    wired = Wired()

    assert 2.0 == pytest.approx(wired.sent(20, each), abs=0.1)


def test_time_in_which_nothing_was_said_is_not_made_up_for():
    wired = Wired()
    wired.now = 1000.0

    assert 0.9 <= wired.sent(10, 0.0)


def test_beside_binds_a_tenth_is_written():
    wired = Wired()
    wired.wire.gives_way = True
    slow = wired.sent(10, 0.0)
    wired.wire.gives_way = False

    assert 10.0 == pytest.approx(slow, abs=1.0)
    assert 1.0 == pytest.approx(wired.sent(10, 0.0), abs=0.1)


def test_a_server_that_knows_no_roles_for_a_moment_silences_no_kind():
    wire = Wired().wire
    for _ in range(3):
        with pytest.raises(BusyError):
            wire.sent("pod", PLACE, FORBIDDEN)
    wire.sent("pod", PLACE, DONE)
    with pytest.raises(BusyError):
        wire.sent("pod", PLACE, FORBIDDEN)

    assert not wire.is_muted(PLACE)


def test_a_kind_that_stays_forbidden_is_left_alone():
    wired = Wired()
    for _ in range(3):
        with pytest.raises(BusyError):
            wired.wire.sent("pod", PLACE, FORBIDDEN)
    wired.wire.sent("pod", PLACE, FORBIDDEN)
    muted = wired.wire.is_muted(PLACE)
    wired.now += 300

    assert (True, False) == (muted, wired.wire.is_muted(PLACE))

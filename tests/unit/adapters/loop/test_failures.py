"""
What the loop does when something breaks: tell, rest, go on.
"""

from adapters.files import read_scenario
from adapters.files.writing.snapshot_writer import snapshot_document
from adapters.loop.timing import Timing
from models.errors import PhalanxError
from solver.round import decide
from tests.unit.adapters.loop.playing import WAITS, Play, Told, break_off


def test_an_unexpected_error_of_a_round_is_told_and_the_loop_goes_on(
    tmp_path, monkeypatch
):
    def breaks(given, policy):
        if not play.told.said.count("failed"):
            raise ZeroDivisionError("a bug")
        play.loop.stop()
        return decide(given, policy)

    play = Play(WAITS, tmp_path, breaks)
    monkeypatch.setattr(Timing, "wait", lambda _timing, _pause, _running: None)
    play.loop.run()

    (error,) = play.told.given["failed"]
    (kept,) = tmp_path.iterdir()
    assert isinstance(error, ZeroDivisionError)
    assert [f"kept in {kept}"] == error.__notes__
    assert "ZeroDivisionError: a bug" in kept.read_text()
    assert snapshot_document(WAITS) == snapshot_document(
        read_scenario(str(kept)).snapshot
    )
    assert "carried_out" in play.told.news


def rests_after(play, monkeypatch, errors: int) -> list[float]:
    """
    Run a loop until it has broken so often; give how long it rested each time.
    """
    rests = []

    def wait(timing, _pause, _running):
        rests.append(timing.rest)
        timing.rest = 0.0
        if len(rests) == errors:
            play.loop.stop()

    monkeypatch.setattr(Timing, "wait", wait)
    play.loop.run()
    return rests


def test_who_breaks_again_and_again_rests_longer_each_time(play, monkeypatch):
    play.source.error = ZeroDivisionError("a bug")

    assert [5.0, 10.0, 20.0, 40.0, 60.0, 60.0] == rests_after(play, monkeypatch, 6)
    assert [] == play.sink.held


def test_plans_of_which_nothing_can_be_tried_are_made_ever_more_rarely(play):
    rests = []
    for result in (*["skipped"] * 9, "again", "skipped", "done"):
        play.sink.result = result
        play.step()
        play.finish()
        play.step()
        rests.append(play.loop._timing.rest)
        play.loop._timing.rest = 0.0
        play.loop._carrying.next = None
        if play.loop._carrying.running is not None:
            play.finish()
            play.loop._carrying.running = None

    assert [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 0.5, 0.5, 0] == rests


def test_a_change_does_not_end_the_rest_of_who_broke(play):
    play.loop._broke(ZeroDivisionError("a bug"))
    rested = []
    play.loop._timing.stopped.wait = rested.append
    play.source.change()
    play.loop._timing.wait(0.0, None)

    assert 5.0 == rested[0]


def test_a_server_that_is_away_is_tried_again_soon_and_nothing_is_kept(
    play, tmp_path, monkeypatch
):
    def away(now):
        raise PhalanxError("nobody is there")

    monkeypatch.setattr(play.sink, "open", away)

    assert [0.0, 0.0, 0.0] == rests_after(play, monkeypatch, 3)
    assert 3 == play.told.said.count("failed")
    assert [] == list(tmp_path.iterdir())


def test_of_a_round_that_breaks_before_it_sees_anything_the_place_is_kept(
    play, tmp_path, monkeypatch
):
    play.source.error = ZeroDivisionError("a bug")
    rests_after(play, monkeypatch, 1)
    (kept,) = tmp_path.iterdir()

    assert ".txt" == kept.suffix
    assert "in snapshot" in kept.read_text()
    assert "ZeroDivisionError: a bug" in kept.read_text()


def test_what_breaks_while_it_is_carried_out_is_kept_with_what_was_seen(
    play, tmp_path, monkeypatch
):
    play.sink.error = ZeroDivisionError("a bug")
    play.step()
    play.finish()
    rests_after(play, monkeypatch, 1)
    (kept,) = tmp_path.iterdir()

    assert snapshot_document(WAITS) == snapshot_document(
        read_scenario(str(kept)).snapshot
    )


def test_a_bundle_that_cannot_be_written_stops_no_round(play, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    play.change(folder=tmp_path / "file")
    play.source.error = ZeroDivisionError("a bug")

    assert [5.0, 10.0] == rests_after(play, monkeypatch, 2)


def test_an_error_of_the_sink_is_told(play):
    break_off(play, OSError("no network"))

    turn, _why = play.told.given["dropped"]
    assert turn is play.sink.held[0]  # nobody waits for its end any more


def test_a_reporter_that_breaks_stops_no_round(play):
    class Breaks(Told):
        def planned(self, turn) -> None:
            raise ZeroDivisionError

    play.change(reporter=(told := Breaks()))
    play.step()

    assert 1 == len(play.sink.held)
    assert isinstance(told.given["failed"][0], ZeroDivisionError)

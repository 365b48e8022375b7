import io
import sys

import pytest

from adapters.cli.terminal import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def able(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


def test_a_terminal_that_cannot_go_back_sees_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setenv("TERM", "dumb")

    with progress.Progress() as shown:
        shown.say("search")

    assert "" == terminal.getvalue()


def test_a_person_who_waits_sees_the_phase(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(progress, "BEAT", 0)

    with progress.Progress() as shown:
        shown.say("search")
        while "search" not in terminal.getvalue():
            pass

    assert terminal.getvalue().endswith("\r\033[K")


def test_a_pipe_sees_nothing(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr(progress, "PATIENCE", 0)

    with progress.Progress() as shown:
        shown.say("search")

    assert "" == pipe.getvalue()


def test_a_long_name_stays_on_one_line_of_a_narrow_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(progress, "BEAT", 0)

    with progress.Progress() as shown:
        shown.say("x" * 100)
        while "xx" not in terminal.getvalue():
            pass

    longest = max(map(len, terminal.getvalue().split("\r\033[K")))
    assert 29 == longest

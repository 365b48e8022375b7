"""
A loop whose thread is the test's, and the parts that it plays with.
"""

import threading
from dataclasses import dataclass, field, replace

import pytest

from adapters.loop.interfaces import Turn
from adapters.loop.loop import Loop
from adapters.loop.memory.gangs import Memory
from adapters.loop.parts import Parts, Pulse
from models.errors import PhalanxError
from models.policy import Policy
from models.receipt import Receipt
from solver.round import decide
from tests.helpers.build import gang, nodes, snapshot


class Source:
    """
    Shows what the test wants, and counts how often it is looked at.
    """

    def __init__(self, shown) -> None:
        self.shown = shown
        self.looks = 0
        self.revision = 1
        self.changed = threading.Event()
        self.error: PhalanxError | None = None

    def snapshot(self):
        self.looks += 1
        if self.error is not None:
            raise self.error
        return self.shown

    def change(self, shown=None) -> None:
        self.shown = shown or self.shown
        self.revision += 1
        self.changed.set()


class Sink:
    """
    Carries plans out when the test lets it.
    """

    def __init__(self) -> None:
        self.opened = 0
        self.remembered = 0
        self.deaf = False
        self.is_lost = False
        self.held: list[Turn] = []
        self.owed: list[Turn] = []
        self.seen: list[tuple[object, object]] = []
        self.go = threading.Event()
        self.go.set()
        self.result = "done"
        self.error: Exception | None = None

    def open(self, now: float) -> None:
        self.opened += 1
        self.is_lost = False

    def hold(self, turn: Turn) -> None:
        self.held.append(turn)

    def looked(self, snapshot, pause) -> None:
        self.seen.append((snapshot, pause))

    def due(self) -> Turn | None:
        return self.owed.pop() if self.owed else None

    def remember(self) -> None:
        if self.deaf:
            raise PhalanxError("nobody listens")
        self.remembered += 1

    def execute(self, plan):
        self.go.wait(10)
        if self.error is not None:
            raise self.error
        return [Receipt(operation=o, result=self.result) for o in plan.operations]


@dataclass
class Leads:
    held: bool = True

    def is_held(self) -> bool:
        return self.held


@dataclass
class Told:
    """
    Writes down what the loop says.
    """

    said: list[str] = field(default_factory=list)
    given: dict[str, object] = field(default_factory=dict)

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)

        def note(*given, **named) -> None:
            self.said.append(name)
            self.given[name] = (*given, *named.values())

        return note

    @property
    def news(self) -> list[str]:
        return [word for word in self.said if word not in {"ticked", "skipped"}]


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Play:
    """
    A loop whose thread is the test's.
    """

    def __init__(self, shown, folder, planner=decide) -> None:
        self.source, self.sink, self.told = Source(shown), Sink(), Told()
        self.leads, self.time = Leads(), Clock(1_000_000.0)
        self.parts = Parts(
            source=self.source,
            planner=planner,
            sink=self.sink,
            memory=Memory(),
            reporter=self.told,
            leadership=self.leads,
            policy=Policy(),
            pulse=Pulse(settle=0.0),
            folder=folder,
            clock=Clock(0.0),
            now=self.time,
        )
        self.loop = Loop(self.parts)

    def change(self, **parts) -> None:
        """
        Begin anew with a loop some of whose parts are others.
        """
        self.parts = replace(self.parts, **parts)
        self.loop = Loop(self.parts)

    def step(self) -> None:
        self.loop.step()

    def finish(self) -> None:
        """
        Let the plan that is being carried out end.
        """
        self.sink.go.set()
        assert self.loop._carrying.running.join(10)


WAITS = snapshot(nodes(1), [gang("g", minimum=2)])
RUNS = snapshot(nodes(1), [gang("g", minimum=2, running=["n0", "n0"])])


def break_off(play, error):
    """
    Let carrying a plan out end in an error, and hear of it.
    """
    play.sink.error = error
    play.step()
    play.finish()
    with pytest.raises(type(error), match=str(error)):
        play.step()

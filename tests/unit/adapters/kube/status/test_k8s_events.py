import pytest

from adapters.kube.api.errors import ConflictError
from adapters.kube.status.k8s_events import EventLimits, Notice, Notices, Regarding

BOUNDS = EventLimits(burst=2, every=10.0, again=30.0, known=100)


class Server:
    """
    Takes every event once.
    """

    def __init__(self) -> None:
        self.made: set[str] = set()
        self.counted: list[str] = []

    def call(self, method, path, body=None, **_):
        if method == "POST":
            name = body["metadata"]["name"]
            if name in self.made:
                raise ConflictError("make an event", 409, "it is there")
            self.made.add(name)
        elif method == "PATCH":
            self.counted.append(path.rpartition("/")[2])
        return {}


class Said:
    def __init__(self) -> None:
        self.now, self.server = 0.0, Server()
        self.notices = Notices(
            self.server,
            "phalanx-0",
            clock=lambda: self.now,
            now=lambda: self.now,
            bounds=BOUNDS,
        )

    def say(self, name: str, note: str = "waits"):
        regarding = Regarding(api_version="v1", kind="Pod", namespace="a", name=name)
        return self.notices.say(
            Notice(regarding=regarding, type="Normal", reason="Waits", note=note)
        )


def test_objects_that_are_not_heard_of_any_more_are_forgotten():
    said = Said()
    for number in range(1000):
        said.now += 1
        said.say(f"pod-{number}")

    assert 31 >= len(said.notices._objects)


def test_one_that_is_spoken_of_again_and_again_is_not_forgotten():
    said = Said()
    for number in range(200):
        said.now += 1
        said.say("steady")
        said.say(f"pod-{number}")

    assert any(about.name == "steady" for about in said.notices._objects)


def test_who_is_forgotten_goes_on_with_his_series():
    said = Said()
    said.say("one")
    said.now += 31
    said.say("other")  # now the first is forgotten
    said.say("one")

    assert 1 == len([name for name in said.server.counted if name.startswith("one")])


@pytest.mark.parametrize(("after", "speaks"), [(1.0, False), (31.0, True)])
def test_forgetting_makes_nobody_speak_sooner(after, speaks):
    said = Said()
    for note in ("a", "b"):
        said.say("one", note)
    said.now += after
    said.say("other")

    assert speaks == (said.say("one", "c") is not None)


def test_of_many_at_once_the_oldest_are_forgotten():
    said = Said()
    for number in range(500):
        said.say(f"pod-{number}")

    assert 100 == len(said.notices._objects)

import pytest

from adapters.kube.acting.lease import Lease, LeaseTimes
from adapters.kube.api.errors import UnreachableError
from tests.helpers.kube.kube_store import Store

PATH = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/phalanx"
TIMES = LeaseTimes(duration=15, renew=10, retry=2)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store():
    return Store()


def lease(store, clock, name: str = "one") -> Lease:
    return Lease(store, ("ns", "phalanx"), name, times=TIMES, clock=clock)


def silent(_method: str, _path: str) -> None:
    raise UnreachableError("renew", "silence")


def test_the_first_to_ask_leads(store, clock):
    one, two = lease(store, clock), lease(store, clock, "two")
    one.attempt()
    two.attempt()

    assert one.is_held()
    assert not two.is_held()
    assert "one" == store.objects[PATH]["spec"]["holderIdentity"]


def test_nobody_takes_over_before_the_lease_has_lasted_as_long_as_it_says(store, clock):
    one, two = lease(store, clock), lease(store, clock, "two")
    one.attempt()
    two.attempt()  # sees it for the first time now
    clock.now += 14.9
    two.attempt()
    early = two.is_held()
    clock.now += 0.2
    two.attempt()

    assert (False, True) == (early, two.is_held())
    assert 1 == store.objects[PATH]["spec"]["leaseTransitions"]


def test_a_leader_is_in_doubt_before_anybody_else_may_lead(store, clock):
    one, two = lease(store, clock), lease(store, clock, "two")
    one.attempt()
    for _ in range(200):
        two.attempt()
        assert not (one.is_held() and two.is_held())
        clock.now += 0.1
    assert two.is_held()


def test_a_renewal_counts_from_when_it_was_asked_for(store, clock):
    one = lease(store, clock)

    def slow(_method: str, _path: str) -> None:
        clock.now += 6

    one.attempt()
    store.after = slow
    one.attempt()  # two requests, twelve seconds

    assert not one.is_held()


def test_a_server_that_is_silent_for_a_while_costs_nothing(store, clock):
    one = lease(store, clock)
    one.attempt()
    store.fault = silent
    clock.now += 8
    one.attempt()
    still = one.is_held()
    clock.now += 3
    one.attempt()

    assert (True, False) == (still, one.is_held())


def test_a_lease_that_somebody_else_wrote_meanwhile_is_lost(store, clock):
    one = lease(store, clock)
    one.attempt()

    def meanwhile(method: str, path: str) -> None:
        if method == "PUT":
            store.fault = lambda *_: None
            held = store.objects[PATH]
            store.put(PATH, held | {"spec": held["spec"] | {"holderIdentity": "two"}})

    store.fault = meanwhile
    one.attempt()

    assert not one.is_held()


def test_a_leader_that_leaves_lets_the_next_one_in_at_once(store, clock):
    told = []
    one = lease(store, clock)
    two = Lease(
        store,
        ("ns", "phalanx"),
        "two",
        times=TIMES,
        clock=clock,
        changed=lambda: told.append(two.is_held()),
    )
    one.attempt()
    two.attempt()
    one.start()
    one.stop()
    two.attempt()

    assert not one.is_held()
    assert two.is_held()
    assert [True] == told


def test_a_lease_is_first_seen_when_its_read_ends(store, clock):
    """
    A candidate that slept in its read must not count that time to the holder.
    """
    leader, other = lease(store, clock), lease(store, clock, "two")
    leader.attempt()

    def slow(method: str, _path: str) -> None:
        if method == "GET":
            store.fault = lambda *_: None
            clock.now += 16
            leader.attempt()

    store.fault = slow
    other.attempt()
    clock.now += 1.7
    other.attempt()
    early = other.is_held()
    clock.now += 15
    other.attempt()

    assert (False, True) == (early, other.is_held())


@pytest.mark.parametrize(
    "spec",
    [
        [],
        "x",
        {"holderIdentity": "one", "leaseTransitions": "many"},
        {"holderIdentity": 7, "leaseDurationSeconds": "x"},
        {"holderIdentity": "two", "leaseDurationSeconds": -3},
        {"holderIdentity": "two", "leaseDurationSeconds": 10**400},
    ],
)
def test_a_lease_that_somebody_scribbled_on_is_taken_in_time(store, clock, spec):
    one = lease(store, clock)
    store.put(PATH, {"metadata": {"name": "phalanx", "namespace": "ns"}, "spec": spec})
    one.attempt()
    clock.now += 15
    one.attempt()

    assert one.is_held()


def test_a_lease_goes_on_where_what_says_who_we_are_cannot_be_read(clock):
    from adapters.kube.api.client import Timeouts, Transport

    def empty() -> dict[str, str]:
        raise ValueError("Token file exists but empty.")

    one = lease(Transport("x", None, empty, Timeouts()), clock)
    one.attempt()

    assert not one.is_held()

import pytest

from adapters.kube.acting.intent import MOST_BINDS, FencedError, Intent, IntentStore
from adapters.kube.api.errors import UnreachableError, UnreadableError
from adapters.loop.memory.promises import Promise
from tests.helpers.kube_store import Store

PATH = "/api/v1/namespaces/ns/configmaps/phalanx-intent"
BINDS = (
    Promise(gang="ns/g", pod="ns/g-0", node="n0", uid="u0"),
    Promise(gang="ns/g", pod="ns/g-1", node="n1", uid=None),
    Promise(gang="ns/h", pod="ns/h-0", node="n0", uid="u2"),
)
INTENT = Intent(round="r1", binds=BINDS, memory={"gangs": {"ns/g": {"failures": 2}}})


@pytest.fixture
def api():
    return Store()


def store(api, name: str = "one") -> IntentStore:
    return IntentStore(api, ("ns", "phalanx-intent"), name)


def test_the_next_leader_reads_what_the_last_one_wrote(api):
    one = store(api)
    one.claim()
    one.write(INTENT)

    assert INTENT == store(api, "two").claim()


def test_the_first_leader_finds_nothing(api):
    assert Intent() == store(api).claim()


def test_who_led_before_cannot_begin_another_round(api):
    one, two = store(api), store(api, "two")
    one.claim()
    one.write(INTENT)
    two.claim()
    with pytest.raises(FencedError):
        one.write(Intent(round="r2"))
    assert "r1" == store(api, "three").claim().round


def test_a_write_without_an_answer_is_looked_up(api):
    one = store(api)
    one.claim()

    def lost(method: str, _path: str) -> None:
        api.after = lambda *_: None
        raise UnreachableError(method, "reset")

    api.after = lost
    with pytest.raises(UnreachableError):
        one.write(INTENT)
    one.write(Intent(round="r2"))

    assert "r2" == store(api, "two").claim().round


def test_a_write_without_an_answer_is_fenced_where_another_has_claimed_it(api):
    one, two = store(api), store(api, "two")
    one.claim()

    def lost(method: str, _path: str) -> None:
        api.fault = lambda *_: None
        raise UnreachableError(method, "reset")

    api.fault = lost
    with pytest.raises(UnreachableError):
        one.write(INTENT)
    two.claim()
    with pytest.raises(FencedError):
        one.write(INTENT)


@pytest.mark.parametrize(
    "said", ["no base64!", "bm8gZ3ppcA==", "H4sIAAAAAAAA/wMAAAAAAAAAAAA="]
)
def test_an_object_that_cannot_be_read_is_named(api, said):
    api.put(PATH, {"metadata": {}, "binaryData": {"intent": said}})
    with pytest.raises(UnreadableError, match="phalanx-intent holds no intent"):
        store(api).claim()


def test_as_many_binds_as_one_round_stores_fit_into_one_object(api):
    """
    An API server takes one MiB of data in a ConfigMap.
    """
    from base64 import b64decode
    from uuid import UUID

    binds = tuple(
        Promise(
            gang=f"team-{i % 40}/training-job-{i // 8}",
            pod=f"team-{i % 40}/training-job-{i // 8}-worker-{i % 8}",
            node=f"gpu-node-{i * 7919 % 5000}.example.internal",
            uid=str(UUID(int=i * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)),
        )
        for i in range(MOST_BINDS)
    )
    one = store(api)
    one.claim()
    one.write(Intent(round="r", binds=binds))
    data = api.objects[PATH]["binaryData"]

    assert sum(len(b64decode(value)) for value in data.values()) < 2**20

import gzip
import json
from base64 import b64decode, b64encode
from dataclasses import fields, replace
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from adapters.kube.acting.intent import (
    MOST_BINDS,
    FencedError,
    IntentStore,
    looked_at,
    names_of,
)
from adapters.kube.acting.intent_format import LIMIT, Intent
from adapters.kube.api.errors import UnreachableError, answer_error
from adapters.loop.memory.gang_memory import GangMemory
from adapters.loop.memory.gangs import Memory
from adapters.loop.memory.promises import Promise
from tests.helpers.kube.kube_store import Store

NOW = 1_790_000_000.0
GOLDEN = Path(__file__).parents[4] / "golden" / "intent"
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


def store(api, name: str = "one", **more) -> IntentStore:
    return IntentStore(api, ("ns", "phalanx-intent"), name, **more)


def test_the_next_leader_reads_what_the_last_one_wrote(api):
    one = store(api)
    one.claim()
    one.write(INTENT)

    assert INTENT == store(api, "two").claim()


def test_the_next_leader_knows_the_devices_of_binds_under_way(api):
    devices = ((0, -1), (3, 4))
    half = Promise(gang="ns/g", pod="ns/g-0", node="n0", uid="u0", devices=devices)
    intent = Intent(round="r1", binds=(half, BINDS[2]))
    one = store(api)
    one.claim()
    one.write(intent)

    assert intent == store(api, "two").claim()


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


def test_an_intent_that_somebody_deleted_is_claimed_again(api):
    one = store(api)
    one.claim()
    one.write(INTENT)
    del api.objects[PATH]
    said = []
    for _ in range(2):
        with pytest.raises(FencedError):
            one.write(INTENT)
        said.append(one.is_lost)

    assert [False, True] == said
    assert Intent() == one.claim()
    assert not one.is_lost
    one.write(INTENT)
    assert INTENT == store(api, "two").claim()


def test_an_intent_that_somebody_only_labelled_stays_ours(api):
    one = store(api)
    one.claim()
    one.write(INTENT)
    api.put(PATH, api.objects[PATH] | {"kind": "ConfigMap"})
    with pytest.raises(FencedError):
        one.write(Intent(round="r2"))
    one.write(Intent(round="r2"))

    assert not one.is_lost
    assert "r2" == store(api, "two").claim().round


# --- what cannot be read ------------------------------------------------------

NEWER = {"version": 7, "round": "r", "what": {"is": "new"}, "binds": {"ns/g": []}}


def held(api, number: int | str = "") -> dict[str, bytes]:
    data = api.objects[f"{PATH}{number}"]["binaryData"]
    return {key: b64decode(value) for key, value in data.items()}


def gz(value: object) -> str:
    return b64encode(gzip.compress(json.dumps(value).encode())).decode()


UNREADABLE = {
    "no base64": "no base64!",
    "no gzip": "bm8gZ3ppcA==",
    "nothing": "H4sIAAAAAAAA/wMAAAAAAAAAAAA=",
    "cut off": gz({"round": "r"})[:16],
    "no mapping": gz(["r"]),
    "no binds": gz({"round": "r", "binds": 7}),
    "binds without a node": gz({"round": "r", "binds": {"ns/g": [["ns/g-0", "u"]]}}),
    "nested deeper than anything": b64encode(
        gzip.compress(b"[" * 5000 + b"]" * 5000)
    ).decode(),
    "no text": 7,
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_is_set_aside_and_rounds_go_on(api, case, caplog):
    memory = gz({"gangs": {"ns/g": {"failures": 2}}})
    said = {"intent": UNREADABLE[case], "memory": memory}
    api.put(PATH, {"metadata": {}, "binaryData": said})
    one = store(api)
    found = one.claim()
    one.write(INTENT)

    assert () == found.binds
    assert {"gangs": {"ns/g": {"failures": 2}}} == found.memory
    assert said == api.objects[f"{PATH}-unread"]["binaryData"]
    assert "intent_set_aside" in [record.message for record in caplog.records]
    assert INTENT == store(api, "two").claim()


def test_what_cannot_be_read_is_set_aside_again_where_that_was_done_before(api):
    api.put(f"{PATH}-unread", {"metadata": {}, "binaryData": {"intent": "old"}})
    api.put(PATH, {"metadata": {}, "binaryData": {"intent": "new"}})
    store(api).claim()

    assert {"intent": "new"} == api.objects[f"{PATH}-unread"]["binaryData"]


def test_rounds_go_on_where_nothing_can_be_set_aside(api):
    api.put(PATH, {"metadata": {}, "binaryData": {"intent": "new"}})

    def fault(_method: str, path: str) -> None:
        if "unread" in path or path.endswith("configmaps"):
            raise answer_error("post", 403, "no")

    api.fault = fault
    one = store(api)
    one.claim()
    one.write(INTENT)

    assert INTENT == store(api, "two").claim()


# --- other versions -----------------------------------------------------------


def remembering(document: dict) -> Memory:
    memory = Memory()
    assert 0 == memory.restore(document, NOW)
    return memory


def test_what_the_version_before_wrote_is_read_whole(api):
    api.put(PATH, json.loads((GOLDEN / "0.1.0.json").read_text()))
    found = store(api).claim()
    memory = remembering(found.memory)

    assert "20260921T103320-abc123" == found.round
    assert [("default/g-0", "n0", "u0"), ("default/g-1", "n1", None)] == [
        (bind.pod, bind.node, bind.uid) for bind in found.binds
    ]
    kept = json.loads(json.dumps(memory.document()))
    assert found.memory["promises"] == kept["promises"]
    assert found.memory["unchanged"] == kept["unchanged"]
    assert 2 == memory.gangs["default/g"].failures
    assert memory.gangs["default/s"].satisfied
    assert f"{PATH}-unread" not in api.objects


def read_as_before(api) -> tuple[dict, Memory]:
    """
    Read what is stored exactly as 0.1.0 did.
    """

    def unpacked(word: str) -> dict:
        data = held(api)
        return json.loads(gzip.decompress(data[word])) if word in data else {}

    said, memory = unpacked("intent"), unpacked("memory")
    binds = [
        row
        for rows in said.get("binds", {}).values()
        for pod, uid, node in rows
        for row in [(pod, uid, node)]
    ]
    known = {entry.name for entry in fields(GangMemory)}
    found = Memory()
    found.gangs = {
        key: GangMemory(**{w: v for w, v in one.items() if w in known}, seen=NOW)
        for key, one in memory.get("gangs", {}).items()
    }
    for one in memory.get("promises", ()):
        requests = tuple((name, amount) for name, amount in one["requests"])
        found.promises.hold(Promise(**{**one, "requests": requests}))
    return {"round": str(said.get("round", "")), "binds": binds}, found


def test_the_version_before_reads_what_we_write_and_we_read_it_again(api):
    """
    Rolled forward, back, and forward again, nothing that fits into one is lost.
    """
    api.put(PATH, json.loads((GOLDEN / "0.1.0.json").read_text()))
    one = store(api)
    found = one.claim()
    memory = remembering(found.memory)
    one.write(Intent(round="r2", binds=found.binds, memory=memory.document()))
    said, before = read_as_before(api)

    assert "r2" == said["round"]
    assert 2 == len(said["binds"])
    assert memory.document() | {"unchanged": None} == before.document() | {
        "unchanged": None
    }


def test_the_version_before_reads_what_fits_into_the_first_of_many_objects(api):
    one = store(api)
    one.claim()
    one._limit = 64 * 1024
    one.write(Intent(round="r", binds=some_binds(5_000), memory=some_memory(3_000)))
    said, before = read_as_before(api)

    assert "r" == said["round"]
    assert 0 < len(said["binds"]) < 5_000
    assert {} == before.gangs


@pytest.mark.parametrize("spread", [False, True])
def test_the_version_before_may_write_after_us(api, spread):
    """
    It knows of one object only: further ones must not be believed then.
    """
    one = store(api)
    one.claim()
    if spread:
        one._limit = 64 * 1024
    one.write(Intent(round="r", binds=some_binds(2000), memory=some_memory(3000)))
    old = json.loads((GOLDEN / "0.1.0.json").read_text())
    api.put(PATH, old)
    found = store(api, "two").claim()

    assert 2 == len(found.binds)
    assert {"default/g", "default/s", "default/v"} == set(found.memory["gangs"])


def test_fields_of_a_newer_version_are_left_alone(api):
    memory = {
        "version": 7,
        "gangs": {
            "ns/g": {"failures": 1, "mood": "bad"},
            "ns/h": {"waited": "x", "halved": 3, "evicted_at": None, "satisfied": True},
            "ns/i": 7,
        },
        "promises": [
            {"gang": "a/g", "pod": "a/p", "node": "n", "device": "gpu-3"},
            {"gang": "a/g", "pod": "a/q", "node": "n", "requests": [["cpu", 1], 3, []]},
            {"gang": "a/g", "pod": "a/r"},
            "x",
        ],
        "unchanged": {"since": "soon"},
        "more": [],
    }
    data = {"intent": gz(NEWER), "memory": gz(memory)}
    api.put(PATH, {"metadata": {}, "binaryData": data})
    found = store(api).claim()
    mine = Memory()
    lost = mine.restore(found.memory, NOW)

    assert 4 == lost
    assert (1, True) == (mine.gangs["ns/g"].failures, mine.gangs["ns/h"].satisfied)
    assert (0.0, False) == (mine.gangs["ns/h"].waited, mine.gangs["ns/h"].halved)
    assert 2 == len(mine.promises)
    assert f"{PATH}-unread" not in api.objects


# --- sizes --------------------------------------------------------------------


def some_binds(number: int) -> tuple[Promise, ...]:
    return tuple(
        Promise(
            gang=f"team-{i % 40}/training-job-{i // 8}",
            pod=f"team-{i % 40}/training-job-{i // 8}-worker-{i % 8}",
            node=f"gpu-node-{i * 7919 % 5000}.example.internal",
            uid=str(UUID(int=i * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)),
        )
        for i in range(number)
    )


def some_memory(number: int) -> dict:
    """
    Give what is remembered of gangs whose names are as much by chance as may be.
    """
    chance, memory = Random(1), Memory()
    for i in range(number):
        memory.gangs[f"team-{i % 40}/job-{chance.getrandbits(40):010x}"] = GangMemory(
            born=NOW - chance.random() * 1e6,
            seen=NOW,
            waited=chance.random() * 1e5,
            waits_since=NOW - chance.random() * 1e4,
        )
    return memory.document()


def within_what_a_server_takes(api) -> int:
    """
    Judge every object as the server does; give the bytes of all.
    """
    sizes = [
        sum(len(b64decode(value)) for value in raw["binaryData"].values())
        for raw in api.objects.values()
    ]
    assert max(sizes) <= 2**20
    return sum(sizes)


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("gangs", "binds", "limit"),
    [
        (15_000, 5_000, 96 * 1024),
        pytest.param(200_000, MOST_BINDS, LIMIT, marks=pytest.mark.slow),
    ],
)
def test_an_intent_of_many_objects_is_read_as_it_was(api, gangs, binds, limit):
    now = [0.0]
    one = store(api, clock=lambda: now[0])
    one.claim()
    one._limit = limit
    intent = Intent(round="r", binds=some_binds(binds), memory=some_memory(gangs))
    one.write(intent)
    written = within_what_a_server_takes(api)
    api.calls.clear()
    now[0] += 30
    one.write(replace(intent, round="r2"))
    again = len(api.calls)
    found = store(api, "two").claim()

    assert 0 == one.left_out
    assert written <= one.size <= written + 1024
    assert set(intent.binds) == set(found.binds)
    assert intent.memory["gangs"] == found.memory["gangs"]
    assert again <= 4  # the gangs are written once in a minute
    assert set(api.objects) <= {
        f"/api/v1/namespaces/ns/configmaps/{name}"
        for name in names_of("phalanx-intent")
    }


def test_what_has_no_room_is_left_out_and_counted_and_what_matters_most_is_kept(api):
    one = store(api)
    one.claim()
    one._limit = 16 * 1024
    memory = some_memory(15_000)
    gangs = {"ns/matters": {"satisfied": True}, **memory["gangs"]}
    one.write(Intent(round="r", memory={**memory, "gangs": gangs}))
    found = store(api, "two").claim()

    assert len(gangs) == one.left_out + len(found.memory["gangs"])
    assert 2_000 < one.left_out < 12_000
    assert "ns/matters" in found.memory["gangs"]


def test_one_entry_that_is_too_large_is_left_out_and_counted(api):
    one = store(api)
    one.claim()
    one._limit = 64 * 1024
    chance = Random(2)
    odd = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=200_000))
    gangs = {"ns/a": {"failures": 1}, f"ns/{odd}": {"failures": 2}}
    one.write(Intent(round="r", memory={"gangs": gangs}))

    assert 1 == one.left_out
    assert {"ns/a"} == set(store(api, "two").claim().memory["gangs"])


@pytest.mark.drawn
def test_a_server_that_takes_less_is_given_less(api):
    one = store(api)
    one.claim()
    put = api._put

    def picky(path: str, body: dict) -> dict:
        size = sum(len(b64decode(v)) for v in body["binaryData"].values())
        if size > 200 * 1024:
            raise answer_error("put", 413, "Request entity too large")
        return put(path, body)

    api._put = picky
    api._post = lambda path, body, post=api._post: (
        picky(f"{path}/x", body) if len(str(body)) > 280_000 else post(path, body)
    )
    intent = Intent(round="r", binds=some_binds(10_000), memory=some_memory(5_000))
    one.write(intent)

    assert set(intent.binds) == set(store(api, "two").claim().binds)


def test_who_led_before_cannot_replace_a_further_object_of_the_next_leader(api):
    one, two = store(api), store(api, "two")
    one.claim()
    one._limit = two._limit = 64 * 1024
    one.write(Intent(round="r", binds=some_binds(5_000)))
    two.claim()
    with pytest.raises(FencedError):
        one.write(Intent(round="late", binds=some_binds(4_000)))
    found = store(api, "three").claim()

    assert ("r", 5_000) == (found.round, len(found.binds))


def test_a_further_object_that_is_not_what_the_first_says_is_not_believed(api):
    one = store(api)
    one.claim()
    one._limit = 64 * 1024
    one.write(Intent(round="r", binds=some_binds(5_000)))
    (number, *_) = [path for path in api.objects if path.startswith(f"{PATH}-")]
    api.put(number, {"metadata": {}, "binaryData": {"intent": gz(NEWER)}})
    found = store(api, "two").claim()

    assert 0 < len(found.binds) < 5_000
    assert f"{PATH}-unread" in api.objects


def test_who_only_looks_finds_what_is_remembered_and_leaves_it(api):
    usage = {"until": NOW, "used": {"q": {"nvidia.com/gpu": 5}}, "uses": {}}
    one = store(api)
    one.claim()
    one.write(Intent(memory={"usage": usage}))
    found = looked_at(api, ("ns", "phalanx-intent")).memory["usage"]
    one.write(Intent())

    assert usage == found
    assert Intent() == looked_at(api, ("ns", "nobody"))

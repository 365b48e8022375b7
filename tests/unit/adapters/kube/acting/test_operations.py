import pytest

from adapters.kube.acting.operations import NOT_LEADING, Deeds
from adapters.kube.api.errors import (
    AnswerError,
    ThrottledError,
    UnreachableError,
    answer_error,
)
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from tests.adapters.kube.api_server import NODES, PODS
from tests.helpers.build import bind
from tests.helpers.kube.kube_store import Store, pod_path, raw_pod

STEP = bind("g-0", "n0", uid="uid-g-0")
EVICTION = bind("g-0", "n0", uid="uid-g-0", op="Evict")


@pytest.fixture
def cache():
    cache = Cache([PODS, NODES])
    for name, closed in (("n0", False), ("closed", True)):
        raw = {"metadata": {"name": name}, "spec": {"unschedulable": closed}}
        cache.shelf(NODES).put(name, 1, node_record(raw), "1")
    return cache


@pytest.fixture
def store():
    store = Store()
    store.put(pod_path("g-0"), raw_pod("g-0"))
    return store


@pytest.fixture
def deeds(store, cache):
    return Deeds(store, cache, lambda: True, sleep=lambda _: None)


def failing(error: Exception, *, times: int = 99, method: str = "POST"):
    left = [times]

    def fault(asked: str, _path: str) -> None:
        if asked == method and left[0]:
            left[0] -= 1
            raise error

    return fault


def test_a_pod_is_bound_with_its_uid_as_precondition(deeds, store):
    receipt = deeds.bind(STEP)

    assert "done" == receipt.result
    ((_, path, body),) = store.calls
    assert f"{pod_path('g-0')}/binding" == path
    assert "uid-g-0" == body["metadata"]["uid"]
    assert "n0" == store.objects[pod_path("g-0")]["spec"]["nodeName"]


def test_a_pod_that_is_bound_there_already_is_done(deeds, store):
    store.put(pod_path("g-0"), raw_pod("g-0", node="n0"))

    assert "done" == deeds.bind(STEP).result


@pytest.mark.parametrize(
    ("raw", "result", "said"),
    [
        (raw_pod("g-0", node="n7"), "refused", "bound to n7"),
        (raw_pod("g-0", uid="younger"), "refused", "another one of that name"),
        (None, "refused", "is gone"),
    ],
)
def test_a_conflict_is_read_and_not_tried_again(deeds, store, raw, result, said):
    store.objects.clear()
    if raw:
        store.put(pod_path("g-0"), raw)
    receipt = deeds.bind(STEP)

    assert result == receipt.result
    assert said in receipt.message
    assert ["POST", "GET"] == [method for method, *_ in store.calls]


def test_a_pod_on_its_way_out_is_refused(deeds, store):
    raw = raw_pod("g-0")
    raw["metadata"]["deletionTimestamp"] = "2026-01-31T09:00:00Z"
    store.put(pod_path("g-0"), raw)
    store.fault = failing(answer_error("bind", 409, "is being deleted"))

    assert "refused" == deeds.bind(STEP).result


def test_a_bind_without_an_answer_is_read(deeds, store):
    store.after = failing(UnreachableError("bind", "reset"))

    assert "done" == deeds.bind(STEP).result


def test_a_server_that_is_gone_is_tried_again_later(deeds, store):
    def gone(_method: str, _path: str) -> None:
        raise UnreachableError("bind", "refused")

    store.fault = gone

    assert "again" == deeds.bind(STEP).result


@pytest.mark.parametrize(("node", "result"), [("gone", "refused"), ("closed", "again")])
def test_a_node_that_is_no_longer_what_it_was_gets_no_pod(deeds, store, node, result):
    receipt = deeds.bind(bind("g-0", node))

    assert result == receipt.result
    assert node in receipt.message
    assert [] == store.calls


@pytest.mark.parametrize(("node", "result"), [("n0", "done"), ("n1", "again")])
def test_a_pod_names_its_node_by_field(deeds, cache, node, result):
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    raw = raw_pod("g-0")
    raw["spec"]["affinity"] = {"nodeAffinity": rule}
    cache.shelf(PODS).put("default/g-0", 1, pod_record(raw), "1")

    assert result == deeds.bind(STEP).result


def test_a_webhooks_own_words_are_given(deeds, store):
    said = 'admission webhook "bind.example.com" denied the request: not today'
    store.fault = failing(answer_error("bind", 403, said))
    receipt = deeds.bind(STEP)

    assert "refused" == receipt.result
    assert said == receipt.message


NOBODY = 'pods "g-0" is forbidden: unable to create new content in namespace n'
ROLE = 'pods "g-0" is forbidden: User "x" cannot create resource "pods/binding"'


@pytest.mark.parametrize(
    ("said", "words"), [(NOBODY, NOBODY), (ROLE, "lacks the rule R"), ("no", "rule R")]
)
def test_the_role_is_named_only_where_it_is_the_role(deeds, store, said, words):
    store.fault = failing(answer_error("bind", 403, said, rule="R"))
    receipt = deeds.bind(STEP)

    assert ("again" if "rule R" in words else "refused") == receipt.result
    assert words in receipt.message


def test_a_busy_server_is_waited_for(store, cache):
    pauses = []
    deeds = Deeds(store, cache, lambda: True, sleep=pauses.append)
    store.fault = failing(ThrottledError("bind", 429, "later", 2.0), times=2)

    assert "done" == deeds.bind(STEP).result
    assert 4.0 == sum(pauses)


def test_a_busy_server_is_waited_for_as_long_as_it_asks(store, cache):
    pauses = []
    deeds = Deeds(store, cache, lambda: True, sleep=pauses.append)
    store.fault = failing(ThrottledError("bind", 429, "later", 30.0), times=1)

    assert "done" == deeds.bind(STEP).result
    assert 30.0 == sum(pauses)


def test_nobody_waits_after_the_last_try(store, cache):
    pauses = []
    deeds = Deeds(store, cache, lambda: True, sleep=pauses.append)
    store.fault = failing(ThrottledError("bind", 429, "later", 1.0))

    assert "again" == deeds.bind(STEP).result
    assert 2.0 == sum(pauses)
    assert 3 == len(store.calls)


def test_nobody_waits_beyond_the_time_of_a_round(store, cache):
    pauses = []
    deeds = Deeds(
        store,
        cache,
        lambda: True,
        clock=lambda: sum(pauses),
        sleep=pauses.append,
        patience=25.0,
    )
    store.fault = failing(ThrottledError("bind", 429, "later", 20.0))
    deeds.begin()

    assert "again" == deeds.bind(STEP).result
    assert 20.0 == sum(pauses)
    assert 2 == len(store.calls)


def test_nobody_waits_who_no_longer_leads(store, cache):
    pauses = []
    deeds = Deeds(store, cache, lambda: len(pauses) < 3, sleep=pauses.append)
    store.fault = failing(ThrottledError("bind", 429, "later", 30.0))

    assert "skipped" == deeds.bind(STEP).result
    assert 1.5 == sum(pauses)


@pytest.mark.parametrize("act", ["bind", "evict"])
def test_a_token_that_was_just_replaced_is_no_fault_of_the_pod(deeds, store, act):
    store.fault = failing(answer_error(act, 401, "Unauthorized"))

    assert "again" == getattr(deeds, act)(EVICTION).result


@pytest.mark.parametrize("act", ["bind", "evict"])
@pytest.mark.parametrize(
    ("said", "result"),
    [
        ('pods "g-0" is forbidden: User "phalanx" cannot create it', "again"),
        ('pods "g-0" is forbidden: exceeded quota', "refused"),
    ],
)
def test_a_role_that_is_not_known_yet_is_no_fault_of_the_pod(
    deeds, store, act, said, result
):
    store.fault = failing(answer_error(act, 403, said, rule="{}"))

    assert result == getattr(deeds, act)(EVICTION).result


def test_a_server_that_is_busy_is_no_disruption_budget(deeds, store):
    busy = answer_error("evict", 429, "too many requests", seconds=1.0)
    store.fault = failing(busy, times=1)

    assert "done" == deeds.evict(EVICTION).result


def test_a_disruption_budget_is_told_by_its_cause(deeds, store):
    held = answer_error("evict", 429, "not now", causes=["DisruptionBudget"])
    store.fault = failing(held)
    receipt = deeds.evict(EVICTION)

    assert "a disruption budget holds it: not now" == receipt.message
    assert 1 == len(store.calls)


def test_nothing_is_written_once_leading_is_in_doubt(store, cache):
    deeds = Deeds(store, cache, lambda: False)
    for receipt in (deeds.bind(STEP), deeds.evict(EVICTION)):
        assert ("skipped", NOT_LEADING) == (receipt.result, receipt.message)
    assert [] == store.calls


def test_a_pod_is_asked_to_leave_by_its_uid(deeds, store):
    assert "done" == deeds.evict(EVICTION).result
    ((_, path, body),) = store.calls
    assert f"{pod_path('g-0')}/eviction" == path
    assert {"uid": "uid-g-0"} == body["deleteOptions"]["preconditions"]


def test_a_pod_that_has_left_need_not_leave(deeds, store):
    store.objects.clear()

    assert "done" == deeds.evict(EVICTION).result


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (ThrottledError("evict", 429, "no", 0.0, ["DisruptionBudget"]), "refused"),
        (answer_error("evict", 409, "modified"), "again"),
        (AnswerError("evict", 500, "two budgets"), "again"),
        (answer_error("evict", 422, "no"), "refused"),
        (UnreachableError("evict", "reset"), "again"),
    ],
)
def test_an_eviction_that_fails_says_whether_to_come_back(deeds, store, error, result):
    store.fault = failing(error)

    assert result == deeds.evict(EVICTION).result
    asked = [method for method, *_ in store.calls]
    assert 1 == asked.count("POST")  # a budget is not asked twice in a row


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (raw_pod("g-0"), UnreachableError("evict", "reset")),
        (raw_pod("g-0"), AnswerError("evict", 504, "it may still be done")),
        (raw_pod("g-0", uid="younger"), answer_error("evict", 409, "another uid")),
    ],
)
def test_an_eviction_without_an_answer_is_read(deeds, store, raw, error):
    store.put(pod_path("g-0"), raw)
    store.after = failing(error)

    assert "done" == deeds.evict(EVICTION).result


def test_a_bind_that_a_server_may_have_done_is_read(deeds, store):
    store.after = failing(AnswerError("bind", 504, "it may still be done"))

    assert "done" == deeds.bind(STEP).result

import threading
import time
from contextlib import suppress

import pytest

from adapters.kube.api.client import Transport
from adapters.kube.api.connect import connect
from adapters.kube.api.errors import (
    AnswerError,
    ExpiredError,
    ForbiddenError,
    KubeconfigError,
    NotFoundError,
    ThrottledError,
    UnreachableError,
)
from tests.adapters.kube.api_server import GROUPS, PODS
from tests.adapters.kube.following import TIMEOUTS, kubeconfig, transport_to
from tests.adapters.kube.raw_pods import raw_pod


@pytest.fixture(params=["direct", "pooled"])
def transport(request, tmp_path, server):
    """
    A transport over connections of our own, and one over the client's pool.
    """
    transport = transport_to(tmp_path, server, named=request.param == "pooled")
    yield transport
    transport.close()


def test_a_list_comes_in_pages_of_one_version(server, transport):
    for index in range(5):
        server.put(PODS, raw_pod(index, 0))
    one, two, three = [], [], []
    first = transport.page(PODS, 2, "", one.append)
    server.put(PODS, raw_pod(9, 0))
    second = transport.page(PODS, 2, first.token, two.append)
    third = transport.page(PODS, 2, second.token, three.append)

    assert [2, 2, 1] == [len(one), len(two), len(three)]
    assert {first.version} == {second.version, third.version}
    assert not third.token


def test_objects_of_a_list_say_what_they_are(server, transport):
    server.put(PODS, raw_pod(0, 0))
    found = []
    transport.page(PODS, 10, "", found.append)
    (pod,) = found

    assert ("v1", "Pod") == (pod["apiVersion"], pod["kind"])


def test_a_refusal_names_the_rule_that_lacks(server, transport):
    server.fault("list", GROUPS, "status", code=403)
    with pytest.raises(ForbiddenError) as caught:
        transport.page(GROUPS, 10, "", print)

    assert (
        "cannot list podgroups.scheduling.example.io: the role lacks the rule "
        '{apiGroups: ["scheduling.example.io"], resources: ["podgroups"], '
        'verbs: ["list"]}'
    ) == str(caught.value)


def test_a_watch_that_is_refused_names_its_own_verb(server, transport):
    server.fault("watch", PODS, "status", code=403)
    with pytest.raises(ForbiddenError) as caught:
        transport.watch(PODS, "1", 1)

    assert (
        '{apiGroups: [""], resources: ["pods"], verbs: ["watch"]}' == caught.value.rule
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [(404, NotFoundError), (410, ExpiredError), (500, AnswerError)],
)
def test_a_status_is_an_error_of_its_own(server, transport, code, error):
    server.fault("list", PODS, "status", code=code)
    with pytest.raises(error) as caught:
        transport.page(PODS, 10, "", print)

    assert f"cannot list pods: the server answered {code}, said the test" == str(
        caught.value
    )


@pytest.mark.parametrize("code", [429, 503])
def test_a_busy_server_says_when_to_come_back_and_nothing_sleeps(
    server, transport, code
):
    server.fault("list", PODS, "status", code=code, retry_after=30)
    began = time.monotonic()
    with pytest.raises(ThrottledError) as caught:
        transport.page(PODS, 10, "", print)

    assert 30 == caught.value.seconds
    assert time.monotonic() - began < 5


def test_a_server_that_never_answers_is_given_up(server, transport):
    server.fault("list", PODS, "silent")
    with pytest.raises(UnreachableError) as caught:
        transport.page(PODS, 10, "", print)

    assert str(caught.value).startswith("cannot list pods: ")


def test_a_server_that_is_not_there_is_said(tmp_path):
    path = kubeconfig(tmp_path, "http://127.0.0.1:1")
    with pytest.raises(UnreachableError):
        connect(path, timeouts=TIMEOUTS).page(PODS, 10, "", print)


def test_a_connection_is_used_again(server, transport):
    for _ in range(3):
        transport.page(PODS, 10, "", print)

    assert 1 == server.connections


def test_a_stream_is_ended_from_another_thread_at_once(server, transport):
    stream = transport.watch(PODS, "1000", 60)
    ended = threading.Event()

    def read():
        with suppress(UnreachableError):
            list(stream)
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    stream.wake()

    assert ended.wait(0.3)
    stream.close()


def test_the_discovery_says_what_is_installed(server, transport):
    had = transport.serves(GROUPS), transport.serves(PODS)
    server.remove(GROUPS)

    assert ((True, True), False) == (had, transport.serves(GROUPS))


def test_who_asks_is_said_on_every_request(tmp_path, server):
    user = {"username": "me", "password": "word"}
    transport = connect(kubeconfig(tmp_path, server.url, **user))

    assert "Basic bWU6d29yZA==" == transport._credentials._headers()["authorization"]


@pytest.mark.parametrize("text", ["", "{}", "a: [", "current-context: gone\n"])
def test_a_kubeconfig_that_says_nothing_is_refused(tmp_path, text):
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(KubeconfigError, match="cannot read the kubeconfig"):
        connect(str(path))


def test_a_kubeconfig_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(KubeconfigError):
        connect(str(tmp_path / "none"))


def test_a_pod_finds_its_own_server(tmp_path, monkeypatch):
    from kubernetes.config import incluster_config

    (tmp_path / "token").write_text("secret")
    (tmp_path / "ca.crt").write_text("certificate")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", tmp_path / "token")
    monkeypatch.setattr(
        incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt")
    )
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    transport = connect()

    assert "https://10.0.0.1:443" == transport.server
    assert "bearer secret" == transport._credentials._headers()["authorization"]


# --- who we are ---------------------------------------------------------------


def test_who_is_not_known_any_longer_reads_its_token_again(tmp_path, server):
    transport = transport_to(tmp_path, server)
    server.put(PODS, raw_pod(0, 0))
    transport.page(PODS, 10, "", print)
    kubeconfig(tmp_path, server.url, token="new")  # noqa: S106 - nobody's
    server.fault("list", PODS, "status", code=401)
    found = []
    transport.page(PODS, 10, "", found.append)
    transport.close()

    assert 1 == len(found)
    assert {"authorization": "Bearer new"}.items() <= dict(
        transport._credentials._who[1]
    ).items()


def test_who_stays_unknown_is_told_so_and_asks_once(tmp_path, server):
    transport = transport_to(tmp_path, server)
    for _ in range(5):
        server.fault("list", PODS, "status", code=401)
    for _ in range(2):
        with pytest.raises(AnswerError, match="answered 401"):
            transport.page(PODS, 10, "", print)
    transport.close()

    assert 3 == server.count("list", PODS)


def test_what_says_who_we_are_may_be_gone_for_a_moment(server, monkeypatch):
    from adapters.kube.api import credentials as module
    from adapters.kube.api.direct import Direct

    monkeypatch.setattr(module, "_KNOWN_FOR", 0.0)
    said = [{"authorization": "Bearer t"}, ValueError("empty"), {"x": "y"}]

    def headers() -> dict[str, str]:
        one = said.pop(0)
        if isinstance(one, Exception):
            raise one
        return one

    transport = Transport(server.url, Direct(server.url), headers, TIMEOUTS)
    server.put(PODS, raw_pod(0, 0))
    for _ in range(3):
        found = []
        transport.page(PODS, 10, "", found.append)
        assert 1 == len(found)
    transport.close()

    assert not said


def test_a_refusal_says_its_causes_and_how_long_to_wait(server, transport):
    from adapters.kube.api.connection import Reply
    from adapters.kube.api.error_answers import error_of

    body = (
        b'{"message":"no","details":{"retryAfterSeconds":10,"causes":'
        b'[{"reason":"DisruptionBudget"},7]}}'
    )
    budget = error_of("evict", Reply(429, {}, body))
    busy = error_of("evict", Reply(429, {"retry-after": "1"}, b"Too many requests"))
    odd = error_of("evict", Reply(429, {"retry-after": "soon"}, b"[" * 5000))

    assert (("DisruptionBudget",), 10.0) == (budget.causes, budget.seconds)
    assert ((), 1.0, "Too many requests") == (busy.causes, busy.seconds, busy.message)
    assert ((), 0.0) == (odd.causes, odd.seconds)

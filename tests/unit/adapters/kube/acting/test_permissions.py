import threading

import pytest

from adapters.cli.terminal.failures import report
from adapters.kube.acting.pause import Pause
from adapters.kube.acting.permissions import ACTING, Permission, RoleLacksError, check
from adapters.kube.api.errors import ForbiddenError, UnreachableError

PODS = Permission(group="", resource="pods", verb="list")
OWN = Permission(group="", resource="configmaps", verb="get", own=True)
STATUS = Permission(group="", resource="pods/status", verb="patch")
OTHERS = Permission(group="example.io", resource="queues", verb="list", optional=True)
ABSENT = Permission(group="absent.io", resource="queues", verb="list", optional=True)


class Server:
    """
    Refuses some attributes; serves one optional kind.
    """

    def __init__(self, *refused: dict, together: int = 1) -> None:
        self.refused = list(refused)
        self.asked: list[dict] = []
        self.together = threading.Barrier(together)

    def call(self, method, path, body):
        asked = body["spec"]["resourceAttributes"]
        self.asked.append(asked)
        self.together.wait(5)
        allowed = not any(no.items() <= asked.items() for no in self.refused)
        return {"status": {"allowed": allowed}}

    def serves(self, resource):
        return resource.group == "example.io"


def test_rules_are_asked_for_at_the_same_time():
    some = ACTING[:5]
    server = Server(together=len(some))
    check(server, some, "own")

    assert len(some) == len(server.asked)


def test_missing_rules_are_named_in_their_own_order():
    server = Server({"resource": "pods"})
    with pytest.raises(RoleLacksError) as caught:
        check(server, [STATUS, OWN, PODS], "own")

    assert (str(STATUS), str(PODS)) == caught.value.rules


def test_who_lacks_rules_is_told_what_prints_them(capsys):
    assert 5 == report(RoleLacksError([str(PODS)]), "run")
    assert "do: grant what `phalanx config role` prints" in capsys.readouterr().err


def test_a_pause_that_must_not_be_read_names_the_rule_that_lacks(caplog):
    class Forbids(Server):
        def call(self, method, path, body=None, *, rule=""):
            raise ForbiddenError(f"{method} {path}", "no", rule)

    assert Pause(Forbids(), "own", lambda: 0.0)() is None
    assert 'resources: ["namespaces"], verbs: ["get"]' in str(caplog.records[0].fields)


def test_what_is_asked_says_where_it_has_to_hold():
    server = Server()
    check(server, [STATUS, OWN], "own")
    asked = {
        (a["resource"], a["subresource"], a["namespace"], a["verb"])
        for a in server.asked
    }

    assert {("pods", "status", "", "patch"), ("configmaps", "", "own", "get")} == asked


def test_of_a_kind_that_is_not_installed_nothing_is_needed():
    server = Server({"resource": "queues"})
    with pytest.raises(RoleLacksError) as caught:
        check(server, [OTHERS, ABSENT], "own")

    assert (str(OTHERS),) == caught.value.rules


def test_who_cannot_ask_says_why():
    class Gone(Server):
        def call(self, method, path, body):
            raise UnreachableError("ask", "nobody is there")

    with pytest.raises(UnreachableError):
        check(Gone(), [PODS, OWN], "own")

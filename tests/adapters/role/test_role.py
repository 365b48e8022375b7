"""
Each permission of the roles that are shipped is needed in a run, and none is missing.

A whole run meets what is rare too: whatever it writes, somebody else was faster once.
"""

import re
from contextlib import suppress
from dataclasses import replace

import pytest
import yaml

from adapters.kube.acting.intent import IntentStore, names_of, place_of
from adapters.kube.acting.intent_format import Intent
from adapters.kube.acting.permissions import to_observe
from adapters.kube.acting.role import roles
from adapters.kube.api.connect import connect
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import BIND_REQUESTS, CLAIMS, VOLUMES, resources_of
from tests.adapters.kube.api_server import PODS
from tests.adapters.kube.following import kubeconfig
from tests.adapters.kube.run_server import MAPS, scheduling
from tests.adapters.role.acted_on import everything, locked_by_turns
from tests.adapters.role.call_sites import noted
from tests.adapters.role.grants import Grant
from tests.adapters.role.role_server import RoleServer
from tests.cluster.provisioner import SELECTED
from tests.helpers.eventually import eventually
from tests.helpers.kube.deployed import REPOSITORY, base
from tests.unit.adapters.kube.acting.test_intent import some_binds, some_memory

OF_PERSONS = {"adapters/kube/acting/holding.py"}
"""
What commands ask in the name of whoever calls them, and never the scheduler.
"""
LONG = 60.0
SPACE = "phalanx-system"
OF_INTENT = {
    Grant("", "configmaps", verb, SPACE, name)
    for name in names_of(place_of(SPACE, "default")[1])
    for verb in ("get", "update")
}
"""
What only the memory of many gangs needs.
"""


@pytest.fixture(scope="module")
def shipped():
    return [raw for raw in base() if raw["kind"] in {"ClusterRole", "Role"}]


@pytest.fixture(scope="module")
def of_hami():
    """
    The rule that the page of dialects tells people to add where HAMi shares GPUs.
    """
    page = (REPOSITORY / "docs" / "reference" / "dialects.md").read_text("utf-8")
    (line,) = (one for one in page.splitlines() if "a rule that our role does" in one)
    rule = yaml.safe_load(re.findall(r"`(\{.*\})`", line)[0])
    return {"kind": "ClusterRole", "metadata": {"name": "hami"}, "rules": [rule]}


@pytest.fixture(scope="module")
def played(shipped, of_hami, tmp_path_factory):
    """
    A run with all that the roles grant, and what it asked from where.
    """
    folder = tmp_path_factory.mktemp("run")
    owned = ("koordinator", "coscheduling")
    with (
        pytest.MonkeyPatch.context() as patch,
        RoleServer([*shipped, of_hami]) as server,
    ):
        server.stand(*everything(), *locked_by_turns())
        with noted(patch) as met:
            with scheduling(server, folder, evictAfter=0.0, ownStatus=owned):
                breaks_off(server)
                goes_wrong(server)
            remembers_much(server, folder)
        yield server, met


def breaks_off(server):
    """
    Let a watch fail, after which the present version is asked for.
    """
    server.fault("watch", PODS, "status", code=500)
    asked = server.count("list", PODS)
    server.end(PODS)
    eventually(lambda: server.count("list", PODS) > asked, LONG)


def goes_wrong(server):
    """
    Let gangs fail of which a part was written already, and wait for the rest.
    """
    for number in (0, 1):
        eventually(lambda number=number: is_told(server, f"made-{number}"), LONG)
        eventually(lambda number=number: is_reserved(server, f"disk-{number}"), LONG)
    for pod in ("made-1", "local-1"):
        server.delete(PODS, f"default/{pod}")
    eventually(lambda: not is_told(server, "made-0"), LONG)
    eventually(lambda: not is_reserved(server, "disk-0"), LONG)
    eventually(lambda: server.held(BIND_REQUESTS), LONG)
    (asked, *_) = server.held(BIND_REQUESTS)
    server.put(BIND_REQUESTS, asked | {"status": {"phase": "Failed"}})
    with suppress(AssertionError):  # a test names what is not used
        eventually(lambda: server.unused <= OF_INTENT, LONG)


def is_told(server, claim):
    found = server.object(CLAIMS, f"default/{claim}")
    return SELECTED in found["metadata"].get("annotations", {})


def is_reserved(server, volume):
    return "claimRef" in server.object(VOLUMES, volume)["spec"]


def remembers_much(server, folder):
    """
    Let leaders store more than one object takes, and read it, and find it spoilt.
    """
    transport = connect(kubeconfig(folder, server.url))
    now, place = [0.0], place_of(SPACE, "default")
    for leader in ("one", "two"):
        store = IntentStore(transport, place, leader, clock=lambda: now[0])
        store.claim()
        store._limit = 96 * 1024
        for number in (20_000, 20_001):
            now[0] += 100
            intent = Intent(round="r", memory=some_memory(number))
            store.write(replace(intent, binds=some_binds(number)))
    for leader in ("three", "four"):
        name = f"{SPACE}/phalanx-default-intent"
        spoilt = server.object(MAPS, name) | {"binaryData": {"intent": leader}}
        server.put(MAPS, spoilt)
        IntentStore(transport, place, leader).claim()
    transport.close()


def test_a_run_is_refused_nothing(played):
    server, _ = played

    assert set() == server.refused


def test_each_permission_is_needed(played):
    server, _ = played

    assert [] == [str(grant) for grant in sorted(server.unused)]


def test_each_call_in_the_source_was_met(played):
    """
    So a call that no role permits is refused above, wherever it is added.
    """
    _, met = played

    assert [] == [
        str(site) for site in sorted(met.unmet()) if site.path not in OF_PERSONS
    ]


def test_a_refusal_tells_the_rule_that_is_needed(played):
    _, met = played

    assert set() == met.wrong


def test_who_observes_needs_each_permission_and_is_refused_nothing(tmp_path):
    asked = roles(to_observe(resources_of(dialects())), "observe", SPACE)
    with RoleServer(asked) as server:
        server.stand(*everything())
        with scheduling(server, tmp_path, observe=True, shard="observe"):
            eventually(lambda: not server.unused, LONG)

        assert set() == server.refused

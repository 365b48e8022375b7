"""
Extended resources by class: the requests of the claim, and which container uses which.
"""

import pytest

from adapters.kube.claims.device_requests import classes_of
from adapters.kube.claims.extended_resources import (
    EXTENDED,
    ExtendedResources,
    told_of,
)
from adapters.kube.objects.extended_asks import extended_asks
from adapters.kube.objects.pod_reader import pod_record
from tests.helpers.kube.manifests import pod
from tests.helpers.rounds.devices import GPU_CLASS, classes, device_class

GPUS = "example.com/gpu"
IMPLICIT = f"deviceclass.resource.kubernetes.io/{GPU_CLASS}"


def container(name, number, resource=GPUS, **more):
    asked = {"cpu": "1", resource: str(number)}
    return {"name": name, "resources": {"requests": asked}, **more}


def sidecar(name, number):
    return container(name, number, restartPolicy="Always")


def asking(*containers, init=()):
    return extended_asks({"containers": containers, "initContainers": [*init]})


def by_class(*more, offered=()):
    raws = [device_class(GPU_CLASS, extendedResourceName=GPUS), *more]
    return ExtendedResources(classes_of(raws), offered)


def requests(asked):
    spec = by_class().spec(asked)
    return {one.name: one.counts[0] for one in spec.requests}


def uses(asked):
    return [
        (one["containerName"], one["requestName"])
        for one in told_of(asked, "c")["requestMappings"]
    ]


def test_each_container_has_its_own_request():
    asked = asking(container("a", 1), container("b", 2))

    assert {"container-0-request-1": 1, "container-1-request-1": 2} == requests(asked)
    assert [("a", "container-0-request-1"), ("b", "container-1-request-1")] == uses(
        asked
    )


@pytest.mark.parametrize(
    ("init", "own", "used"),
    [
        ([1], {}, [("i0", 1)]),
        ([2], {}, [("i0", 1)]),
        ([3], {}, [("i0", 1), ("i0", 2)]),
        ([5], {0: 2}, [("i0", 1), ("i0", 2), ("i0", 0)]),
        (
            [4, 6],
            {1: 3},
            [("i0", 2), ("i0", 3), ("i1", 2), ("i1", 3), ("i0", 1), ("i1", 1)],
        ),
    ],
)
def test_an_init_container_uses_what_later_ones_get_and_one_request_more(
    init, own, used
):
    first = [container(f"i{at}", number) for at, number in enumerate(init)]
    asked = asking(container("a", 2), container("b", 1), init=first)
    after = len(init)
    known = {f"container-{after}-request-1": 2, f"container-{after + 1}-request-1": 1}

    more = {f"container-{at}-request-1": number for at, number in own.items()}
    assert known | more == requests(asked)
    mine = [(who, f"container-{at}-request-1") for who, at in used]
    assert mine == [one for one in uses(asked) if one[0].startswith("i")]


def test_a_sidecar_keeps_what_it_has_and_those_before_it_use_it():
    asked = asking(container("a", 1), init=[container("i", 2), sidecar("s", 1)])

    assert {"container-1-request-1": 1, "container-2-request-1": 1} == requests(asked)
    assert [
        ("s", "container-1-request-1"),
        ("a", "container-2-request-1"),
        ("i", "container-1-request-1"),
        ("i", "container-2-request-1"),
    ] == uses(asked)


def test_a_limit_stands_for_a_request_that_is_not_said():
    (one,) = asking({"name": "a", "resources": {"limits": {GPUS: "3"}}})

    assert (GPUS, 3, "container-0-request-0") == (one.resource, one.count, one.request)


@pytest.mark.parametrize("name", ["cpu", "hugepages-2Mi", "requests.x.com/y", "x"])
def test_what_is_native_is_no_extended_resource(name):
    assert () == asking(container("a", 1, name))


def test_every_class_has_an_implicit_resource():
    assert {GPUS, IMPLICIT} == set(by_class().names)


def test_what_a_node_offers_itself_is_not_had_by_class():
    assert {IMPLICIT} == set(by_class(offered={GPUS}).names)


@pytest.mark.parametrize(
    ("one", "other", "newest"),
    [
        ("2026-01-02", "2026-01-01", "a"),
        ("2026-01-01", "2026-01-02", "b"),
        ("2026-01-01", "2026-01-01", "a"),
    ],
)
def test_of_several_classes_the_newest_stands_for_a_resource(one, other, newest):
    raws = []
    for name, created in (("a", one), ("b", other)):
        raw = device_class(name, extendedResourceName="x.com/y")
        raw["metadata"]["creationTimestamp"] = f"{created}T00:00:00Z"
        raws.append(raw)
    asked = asking(container("c", 1, "x.com/y"))
    (request,) = ExtendedResources(classes_of(raws)).spec(asked).requests

    assert newest == request.asks[0].device_class.name


def test_the_claim_of_a_pod_is_owned_by_it_and_has_one_name():
    raw = pod("p" * 250, meta={"uid": "u"})
    raw["spec"]["containers"] = [container("a", 2)]
    mine = by_class().claiming(pod_record(raw))
    (entry,) = mine.claims
    made = by_class().made_for(mine, entry.asked)
    meta = made["metadata"]

    assert GPUS not in mine.requests
    assert {EXTENDED: "true"} == meta["annotations"]
    assert ("u", True) == tuple(
        meta["ownerReferences"][0][k] for k in ("uid", "controller")
    )
    assert len(meta["name"]) <= 253
    assert meta == by_class().made_for(mine, entry.asked)["metadata"]
    assert [
        {
            "name": "container-0-request-1",
            "exactly": {
                "deviceClassName": GPU_CLASS,
                "allocationMode": "ExactCount",
                "count": 2,
            },
        }
    ] == made["spec"]["devices"]["requests"]


def test_a_class_that_cannot_be_read_is_named():
    found = ExtendedResources(classes_of([*classes(), device_class("odd", "1 +")]))
    asked = asking(container("a", 1, "deviceclass.resource.kubernetes.io/odd"))

    assert "extended resource deviceclass.resource.kubernetes.io/odd: " in str(
        found.spec(asked)
    )

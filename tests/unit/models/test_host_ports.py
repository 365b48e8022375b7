from itertools import product

import pytest

from adapters.kube.objects.constraints import host_ports_of
from adapters.kube.objects.fields import FieldError
from models.host_ports import ALL_ADDRESSES, port_requests, ports_of, ports_offered
from models.resources import fits, summed

ADDRESSES = ("", ALL_ADDRESSES, "10.0.0.1", "10.0.0.2", "fd00::1")


def conflicts(one, other):
    """
    Say what Kubernetes says: one address is all of them, others are compared.
    """
    everywhere = {"", ALL_ADDRESSES}
    if one[:2] != other[:2]:
        return False
    return one[2] == other[2] or bool({one[2], other[2]} & everywhere)


def test_two_ports_fit_on_one_node_exactly_where_they_do_not_conflict():
    ports = list(product((80, 443), ("TCP", "UDP"), ADDRESSES))
    for one, other in product(ports, ports):
        asked = summed([port_requests(*one), port_requests(*other)])

        assert conflicts(one, other) != fits(asked, ports_offered(asked))


@pytest.mark.parametrize("port", [(80, "TCP", ""), (53, "UDP", "fd00::1")])
def test_ports_are_given_back_as_they_were_said(port):
    assert [port] == ports_of(port_requests(*port))


def spec(*ports, **more):
    return {"containers": [{"name": "c", "ports": list(ports)}], **more}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (spec({"containerPort": 80}), []),
        (spec({"containerPort": 80, "hostPort": 81}), [(81, "TCP", "")]),
        (spec({"containerPort": 80}, hostNetwork=True), [(80, "TCP", "")]),
        (
            spec({"hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}),
            [(53, "UDP", "10.0.0.1")],
        ),
        ({"initContainers": [{"name": "i", "ports": [{"hostPort": 1}]}]}, []),
        (
            {
                "initContainers": [
                    {"name": "i", "restartPolicy": "Always", "ports": [{"hostPort": 1}]}
                ]
            },
            [(1, "TCP", "")],
        ),
    ],
)
def test_the_ports_of_a_pod_are_those_that_it_uses_while_it_runs(pod, expected):
    assert expected == ports_of(host_ports_of(pod))


def test_a_pod_with_too_many_ports_is_refused():
    ports = [{"hostPort": number} for number in range(1, 100)]
    with pytest.raises(FieldError, match="more than 64 ports of a host"):
        host_ports_of(spec(*ports))

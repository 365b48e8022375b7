"""
A namespace that is being deleted: nothing more of its gangs is planned.
"""

from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.gangs.holds import HOLD
from adapters.kube.objects.pod_reader import pod_record
from models.why.reasons import Reason
from tests.helpers.kube.manifests import NOW, gang_of, obj, objects, pod

STAYS = obj("v1", "Namespace", "team")
ENDS = obj(
    "v1", "Namespace", "team", meta={"deletionTimestamp": "2027-01-15T07:00:00Z"}
)
ODD = obj("v1", "Namespace", "team", meta={"labels": 7})


def test_the_reason_names_the_namespace_and_comes_before_a_hold():
    held = pod(namespace="team", annotations={HOLD: "no data"})
    refused = gang_of(ENDS, held).refused

    assert Reason.NAMESPACE_ENDING is refused.reason
    assert "namespace team is being deleted, and nothing more starts in it" == (
        refused.message
    )
    assert gang_of(ENDS, pod(namespace="other")).refused is None
    assert gang_of(ODD, pod(namespace="team")).refused is None


def test_a_namespace_that_ends_is_looked_at_again():
    assembler, one = Assembler(dialects()), pod_record(pod(namespace="team"))

    def refused(*raws):
        (gang,) = assembler.assembled([one], [], objects(*raws), NOW).snapshot.gangs
        return gang.refused and gang.refused.reason

    assert [None, Reason.NAMESPACE_ENDING, None] == [
        refused(each) for each in (STAYS, ENDS, STAYS)
    ]

"""
The claims of devices that a pod names.
"""

from adapters.kube.objects.fields import Json, records, text
from adapters.kube.objects.pod_record import PodClaim

_NONE: tuple[PodClaim, ...] = ()


def pod_claims(spec: Json, status: Json) -> tuple[PodClaim, ...]:
    """
    Read the claims, those that are made of templates by what the status says of them.
    """
    said = records(spec, "resourceClaims", "spec")
    if not said:
        return _NONE
    place = "status.resourceClaimStatuses"
    made = {
        text(each, "name", place): text(each, "resourceClaimName", place)
        for each in records(status, "resourceClaimStatuses", "status")
    }
    found = []
    for at, each in enumerate(said):
        place = f"spec.resourceClaims[{at}]"
        name = text(each, "name", place)
        claim = text(each, "resourceClaimName", place) or made.get(name)
        template = text(each, "resourceClaimTemplateName", place)
        found.append(PodClaim(name, claim, template))
    return tuple(found)

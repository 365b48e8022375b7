"""
Neighbours in odd rounds: who is near whom, apart, spread, and shares free volumes.

They are drawn after all else, by a chance of their own: rounds without stay the same.
"""

from random import Random

from tests.odd.gangs import leaves_below
from tests.odd.world import Part

_NAMES = ("x", "y")
_KEYS = ("zone", "rack", "rack", "kubernetes.io/hostname")
_KINDS = ("large", "small")
_OFTEN = (0.15, 0.3, 0.5)


def add_beside(chance: Random, document: Part) -> None:
    """
    Let many leaves and pods of others say who is around them.
    """
    given = document["given"]
    often = chance.choice(_OFTEN)
    if chance.random() < 0.7:
        for node in given["nodes"]:
            if chance.random() < often:
                node["others"] = [_others(chance, often)]
        for gang in given["gangs"]:
            for leaf in leaves_below(gang):
                _stand(chance, leaf, often)
    if chance.random() < 0.4:
        _reach(chance, given, often)
    if chance.random() < 0.2:
        _listen(chance, document)


def _others(chance: Random, often: float) -> Part:
    found: Part = {"selectedBy": _some(chance, 0.6), "count": chance.randint(1, 2)}
    if chance.random() < often:
        found["podAntiAffinity"] = [_term(chance)]
    if chance.random() < 0.2:
        found["preferredBy"] = _some(chance, 0.6)
    return found


def _stand(chance: Random, leaf: Part, often: float) -> None:
    """
    Say of a leaf who selects it, and whom it looks for.
    """
    if chance.random() < 0.5:
        leaf["selectedBy"] = _some(chance, 0.6)
    if chance.random() < often:
        keys = sorted({chance.choice(_KEYS) for _ in range(chance.choice((1, 1, 2)))})
        leaf["podAffinity"] = {"pods": chance.choice(_NAMES), "topologyKeys": keys}
    if chance.random() < often / 2:
        leaf["podAntiAffinity"] = [_term(chance)]
    if chance.random() < often / 2:
        leaf["topologySpread"] = [_spread(chance)]
    if chance.random() < 0.2:
        leaf["preferredBy"] = _some(chance, 0.6)
    for word in ("preferredPodAffinity", "preferredPodAntiAffinity"):
        if chance.random() < 0.2:
            leaf[word] = [{**_term(chance), "weight": chance.randint(1, 3)}]
    if chance.random() < 0.1:
        leaf["hostPorts"] = [chance.choice((80, 81))]


def _some(chance: Random, part: float) -> list[str]:
    return [name for name in _NAMES if chance.random() < part]


def _term(chance: Random) -> Part:
    return {"pods": chance.choice(_NAMES), "topologyKey": chance.choice(_KEYS)}


def _spread(chance: Random) -> Part:
    spread = {**_term(chance), "maxSkew": chance.choice((1, 1, 2))}
    if chance.random() < 0.3:
        spread["minDomains"] = chance.randint(1, 3)
    for word in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if chance.random() < 0.3:
            spread[word] = chance.choice(("Honor", "Ignore"))
    return spread


def _reach(chance: Random, given: Part, often: float) -> None:
    """
    Let nodes reach free volumes, some the same ones, and leaves claim them.
    """
    for node in given["nodes"]:
        node.pop("freeVolumes", None)
    for at in range(chance.randint(1, 3)):
        kinds = chance.choice((_KINDS, _KINDS[:1], _KINDS[1:]))
        one = {"name": f"v{at}", "for": [*kinds], "count": chance.randint(1, 3)}
        for node in given["nodes"]:
            if chance.random() < 0.6:
                node.setdefault("freeVolumes", []).append(one)
    for gang in given["gangs"]:
        for leaf in leaves_below(gang):
            if chance.random() < often:
                kinds = chance.choice((_KINDS, _KINDS[:1], _KINDS[1:]))
                leaf["claims"] = {kind: chance.choice((1, 1, 2)) for kind in kinds}


def _listen(chance: Random, document: Part) -> None:
    """
    List what pods prefer among the tiers, last or before another one.
    """
    policy = document.setdefault("policy", {})
    tiers = policy.get("tiers") or ["entitled", "disruption", "borrowing", "topology"]
    if "neighbours" not in tiers:
        at = chance.randint(min(3, len(tiers)), len(tiers))
        policy["tiers"] = [*tiers[:at], "neighbours", *tiers[at:]]

"""
What a round can know of time: ages, run times, held time, and what policies make of it.
"""

from random import Random

from tests.odd.world import Part

TIMES = ("0s", "1m", "10m", "1h", "6h", "1d", "30d")
_LEVELS = ((0.5, 0.8, 0.95), (0.3, 0.6, 0.9), (0.5, 0.5, 0.5))
_WAITING = {
    "protectAfter": ("0s", "10m", "1h"),
    "heads": (1, 1, 2, 3),
    "headsOf": ("queue", "cluster"),
    "firm": (0, 1, 2),
    "firmAfter": ("10m", "1d"),
    "gpus": (0, 2, 4),
    "slip": (1, 2, 10),
    "budget": (0, 0.02, 0.5, 1),
    "window": ("1m", "1h", "1d"),
    "outweigh": (0, 0.5, 4, 100),
    "idle": ("hold", "backfill"),
    "lend": (50, 80, 95),
}


def add_times(chance: Random, document: Part) -> None:
    """
    Say of gangs how long they wait and run, of policies what follows from it.
    """
    given = document["given"]
    for gang in given["gangs"]:
        _add_to_gang(chance, gang)
    if chance.random() < 0.5:
        given["held"] = chance.choice(("0s", "10m", "1h", "100d"))
    if chance.random() < 0.7:
        given["runTimes"] = _record(chance)
    if chance.random() < 0.3:
        given["runTimeLevels"] = [
            {"after": after, "half": half, "most": most, "nearly": nearly}
            for after, (half, most, nearly) in zip(
                ("0s", "1h"), chance.sample(_LEVELS, 2), strict=True
            )
        ]
    if chance.random() < 0.3:
        given["alsoWaiting"] = [
            {"gpus": gpus, "gangs": chance.randint(1, 50)} for gpus in (1, 8, 64)
        ]
    _add_to_policy(chance, document.setdefault("policy", {}))


def _add_to_gang(chance: Random, gang: Part) -> None:
    gang["age"] = chance.choice(TIMES)
    runs = "running" in str(gang)
    if not runs and chance.random() < 0.6:
        gang["passedOver"] = chance.choice(TIMES)
    if not runs and chance.random() < 0.3:
        gang["heldFor"] = chance.choice(TIMES)
        gang["heldFirst"] = chance.choice(TIMES)
    if chance.random() < 0.4:
        gang["maxRuntime"] = chance.choice(TIMES[1:])
    if chance.random() < 0.3:
        gang["runsLike"] = {"gpus": chance.choice((0, 1, 8))}


def _record(chance: Random) -> list[Part]:
    """
    Say for how long gangs ran that have ended.
    """
    return [
        {
            "gpus": gpus,
            "ended": [
                {"within": within, "gangs": chance.randint(1, 30)}
                for within in chance.sample(TIMES[1:], chance.randint(1, 3))
            ],
        }
        for gpus in (0, 1, 2, 4, 8)
        if chance.random() < 0.6
    ]


def _add_to_policy(chance: Random, policy: Part) -> None:
    if chance.random() < 0.5:
        steps = sorted(chance.sample((0, 60, 600, 3600, 86400), chance.randint(1, 3)))
        policy["ageing"] = [
            {
                "after": f"{0 if not at else after}s",
                "quarters": 1 + at * chance.randint(1, 20),
            }
            for at, after in enumerate(steps)
        ]
    waiting = policy.setdefault("waiting", {})
    for word, choices in _WAITING.items():
        if chance.random() < 0.3:
            waiting[word] = chance.choice(choices)
    if chance.random() < 0.3:
        policy.setdefault("evict", {})["lentFor"] = chance.choice(TIMES)
    if chance.random() < 0.3:
        policy["limits"] = {"gap": chance.choice((0, 0.001, 0.3, 0.9))}
    if chance.random() < 0.3:
        policy["shares"] = {"halfLife": chance.choice(("1m", "7d"))}

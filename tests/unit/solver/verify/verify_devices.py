"""
Cases of the judge about devices of which somebody has a part.
"""

from dataclasses import replace

from models.devices.gpu_parts import DeviceAmounts, TakenDevice, with_shares
from models.policy import Policy, Tier
from models.resources import GPU
from tests.helpers.build import bind, gang, plan, requests, snapshot, tier
from tests.helpers.rounds.parts import (
    MEMORY,
    fraction,
    memory,
    mig,
    on,
    part_gang,
    sharing,
)
from tests.unit.solver.verify.verify_cases import broken

HALF = fraction(500)


def _whole(name, gpus=1, **fields):
    return gang(name, requests=dict(with_shares(requests(gpus), ())), **fields)


def _names():
    half = snapshot([sharing()], [part_gang("a", HALF)])
    good = plan(bind("a-0", devices=on(1)))
    yield broken("device-named", half, plan(bind("a-0")), good, "no device")
    yield broken(
        "device-named", half, plan(bind("a-0", devices=on(2))), good, "one too far"
    )
    yield broken(
        "device-named",
        half,
        plan(bind("a-0", devices=on((1, 0)))),
        good,
        "a slice of no instance",
    )
    for amounts in (DeviceAmounts(300, MEMORY // 2), DeviceAmounts(profile="1g.10gb")):
        yield broken(
            "device-named",
            half,
            plan(bind("a-0", devices=on(1), of_each=amounts)),
            plan(bind("a-0", devices=on(1), of_each=DeviceAmounts(500, MEMORY // 2))),
            f"{amounts.cores} of its compute",
        )
    two = snapshot([sharing()], [part_gang("a", fraction(250, devices=2))])
    yield broken(
        "device-named",
        two,
        plan(bind("a-0", devices=on(0, 0))),
        plan(bind("a-0", devices=on(0, 1))),
        "one device twice",
    )
    whole = snapshot([sharing()], [_whole("a")])
    yield broken(
        "device-named",
        whole,
        plan(bind("a-0", devices=on(0))),
        plan(bind("a-0")),
        "a whole GPU",
    )
    cut = snapshot([sharing(cut=(1,))], [part_gang("a", mig("3g.40gb"))])
    for place, label in (((0, 4), "not to be cut"), ((1, 2), "no such start")):
        yield broken(
            "device-named",
            cut,
            plan(bind("a-0", devices=on(place))),
            plan(bind("a-0", devices=on((1, 4)))),
            label,
        )


def _left_over():
    given = snapshot([sharing(gpus=2)], [part_gang("a", fraction(600))])
    step = bind("a-0", devices=on(1))

    def said(value):
        return plan(step, tiers=[tier("expected-fragments", value, direction="min")])

    counted = Policy(tiers=(Tier(name="expected-fragments"),))
    yield broken("expected-fragments", given, said(7), said(8), policy=counted)


def _sums():
    one = [sharing(gpus=1)]
    two = [sharing()]
    runs = part_gang("r", fraction(600), ("n0", 0))
    yield broken(
        "device-capacity",
        snapshot(two, [runs, part_gang("a", HALF)]),
        plan(bind("a-0", devices=on(0))),
        plan(bind("a-0", devices=on(1))),
        "compute",
    )
    large = memory(MEMORY // 2 + 1)
    yield broken(
        "device-capacity",
        snapshot(two, [part_gang("a", large), part_gang("b", large)]),
        plan(bind("a-0", devices=on(0)), bind("b-0", devices=on(0))),
        plan(bind("a-0", devices=on(0)), bind("b-0", devices=on(1))),
        "memory",
    )
    other = fraction(250, contract="kai")
    yield broken(
        "device-capacity",
        snapshot(two, [part_gang("a", HALF), part_gang("b", other)]),
        plan(bind("a-0", devices=on(0)), bind("b-0", devices=on(0))),
        plan(bind("a-0", devices=on(0)), bind("b-0", devices=on(1))),
        "two contracts",
    )
    yield broken(
        "device-capacity",
        snapshot(two, [runs, _whole("a", 2, minimum=1)]),
        plan(bind("a-0")),
        plan(),
        "a whole GPU that is shared",
    )
    yield broken(
        "device-capacity",
        snapshot(one, [_whole("r", running=["n0"]), part_gang("a", HALF)]),
        plan(bind("a-0", devices=on(0))),
        plan(),
        "a part of a whole GPU",
    )
    three = part_gang("r", mig("3g.40gb"), ("n0", (0, 4)))
    yield broken(
        "device-capacity",
        snapshot([sharing(cut=(0,))], [three, part_gang("a", mig("2g.20gb"))]),
        plan(bind("a-0", devices=on((0, 4)))),
        plan(bind("a-0", devices=on((0, 2)))),
        "slices",
    )
    media = mig("1g.10gb+me")
    yield broken(
        "device-capacity",
        snapshot(
            [sharing(cut=(0, 1))],
            [part_gang("r", media, ("n0", (0, 4))), part_gang("a", media)],
        ),
        plan(bind("a-0", devices=on((0, 2)))),
        plan(bind("a-0", devices=on((1, 2)))),
        "media engines",
    )
    yield broken(
        "device-capacity",
        snapshot([sharing(cut=(0,))], [three, part_gang("a", HALF)]),
        plan(bind("a-0", devices=on(0))),
        plan(bind("a-0", devices=on(1))),
        "a share of a cut device",
    )


def _others():
    def with_others(*taken, used):
        return replace(sharing(used={GPU: used}), taken=taken)

    shared = TakenDevice(0, "phalanx", 600, MEMORY // 4)
    yield broken(
        "device-capacity",
        snapshot([with_others(shared, used=1)], [part_gang("a", HALF)]),
        plan(bind("a-0", devices=on(0))),
        plan(bind("a-0", devices=on(1))),
        "what others have of a GPU",
    )
    yield broken(
        "device-capacity",
        snapshot(
            [with_others(TakenDevice(1), used=1)], [part_gang("a", fraction(100))]
        ),
        plan(bind("a-0", devices=on(1))),
        plan(bind("a-0", devices=on(0))),
        "a GPU that others have whole",
    )


DEVICES = [*_names(), *_sums(), *_others(), *_left_over()]

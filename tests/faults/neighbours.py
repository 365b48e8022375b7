"""
Faults of neighbours: pods that are near each other, apart, or spread.
"""

from dataclasses import replace

from solver.encode.neighbours.open_places import First
from tests.faults.fault import Fault
from tests.faults.switch import Switch, always, both, seeing, switch

_AROUND = "solver.problem.neighbours.pods_around:PodsAround"
_ROWS = "solver.encode.neighbours.domain_rows:_Rows"
_NEAR = "solver.encode.neighbours.near_rows:_NearRows"
_PREFERRED = "solver.encode.neighbours.preferred_rows:_PreferredRows"
_DIR = "neighbours"


def _for(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{_DIR}/{name}" for name in names)


def _said(**changes) -> Switch:
    """
    See pods that ask for less of those around them, wherever one more may be.
    """
    return both(
        *(
            switch(f"{_AROUND}.{method}", seeing(at1=lambda s: replace(s, **changes)))
            for method in ("may_be", "apart_from")
        )
    )


def _who_look(rows):
    """
    Let all who look for some be the first of those that are looked for.
    """
    said = {shape: item.neighbours for shape, item in rows.counts.items.items()}
    order = sorted(said, key=lambda at: (said[at].selected == (), at))
    found = {}
    for shape in order:
        if near := said[shape].near:
            found.setdefault(First(near, (near.pods,)), []).append(shape)
    return found


def _any_rank(rows, place):
    return rows.model.new_int_var(0, 99, f"{place}")


FAULTS = [
    Fault(
        "apart-from-nobody",
        "pods go where those are that they must be apart from",
        _said(apart=()),
        _for(("pods-are-apart-from-those-that-run",)),
    ),
    Fault(
        "nobody-keeps-others-away",
        "anti-affinity counts one way only",
        _said(selected=()),
        _for(("who-runs-keeps-others-away",)),
    ),
    Fault(
        "near-to-nobody",
        "pods go where nobody is that they must be near to",
        _said(near=None),
        _for(("pods-are-near-those-that-run", "who-looks-for-its-like-joins-it")),
    ),
    Fault(
        "nobody-is-the-first",
        "who looks for its like finds it nowhere, and waits for ever",
        switch(f"{_AROUND}.is_first", always(False)),
        _for(
            (
                "the-first-of-its-like-may-be-anywhere",
                "a-pod-without-the-label-is-found-by-nobody",
            )
        ),
    ),
    Fault(
        "everybody-finds-others",
        "who looks for pods that nobody has or asks for keeps its claim",
        switch(f"{_AROUND}.may_find", always(True)),
        _for(("nothing-is-kept-for-who-finds-nobody",)),
    ),
    Fault(
        "everybody-is-the-first",
        "who looks for its like may always be anywhere",
        switch(
            f"{_AROUND}.is_first",
            lambda old: (
                lambda self, said: said.near is not None and bool(said.selected)
            ),
        ),
        _for(("who-looks-for-its-like-joins-it",)),
    ),
    Fault(
        "spread-is-ignored",
        "pods are spread over nothing",
        _said(spread=()),
        _for(("pods-are-spread-over-zones", "spread-wants-so-many-domains")),
    ),
    Fault(
        "who-leaves-is-spread",
        "pods that leave count where others are spread",
        switch(
            f"{_AROUND}.add",
            lambda old: (
                lambda self, *args, **more: old(self, *args, **{**more, "stays": True})
            ),
        ),
        _for(("what-runs-is-counted-where-pods-are-spread",)),
    ),
    Fault(
        "spread-over-all-nodes",
        "nodes count that a pod cannot be on by its selector",
        switch(
            "solver.problem.neighbours.spread_counts:SpreadCounts.counting",
            seeing(at2=lambda spread: spread._replace(by_affinity=False)),
        ),
        _for(("spread-counts-the-nodes-a-pod-may-be-on",)),
    ),
    Fault(
        "rows-keep-nobody-apart",
        "the model lets pods be beside those that they are apart from",
        switch(f"{_ROWS}.keep_apart", always(None)),
        _for(("hosts-are-shared-so-that-all-start",)),
    ),
    Fault(
        "rows-keep-nobody-near",
        "the model lets pods be far from those that they must be near to",
        switch(f"{_NEAR}.open_places", always(None)),
        _for(("who-looks-for-its-like-leaves-room-for-others",)),
    ),
    Fault(
        "rows-let-anybody-be-the-first",
        "the model lets a pod come first that does not look for its like",
        switch(f"{_NEAR}._own", lambda old: _who_look),
        _for(("nobody-comes-first-for-others",)),
    ),
    Fault(
        "one-is-the-first-by-each-label",
        "the model lets one pod be the first for each label by which they are near",
        switch(f"{_NEAR}._finds", always(False)),
        _for(("one-is-the-first-by-whatever-label-they-are-near",)),
    ),
    Fault(
        "rings-find-only-each-other",
        "the model lets gangs start that only find each other",
        switch(f"{_NEAR}._rank", lambda old: _any_rank),
        _for(("a-ring-finds-somebody-elsewhere-only",)),
    ),
    Fault(
        "the-first-comes-last",
        "places are dealt in any order, and whoever must come first comes too late",
        switch(
            "solver.decode.deal_places:_Dealer._with_first",
            lambda old: lambda self, wants, firsts: wants,
        ),
        _for(("who-may-be-first-comes-before-those-it-looks-for",)),
    ),
    Fault(
        "preferences-are-not-scored",
        "what pods prefer is worth nothing where it counts",
        switch(
            "solver.problem.neighbours.preferred_pods:PreferredPods.unmet", always(0)
        ),
        _for(("pods-prefer-to-be-apart",)),
    ),
    Fault(
        "rows-prefer-nobody",
        "the model does not know what pods prefer",
        switch(
            "solver.encode.neighbours.preferred_rows:_PreferredRows.add", always(None)
        ),
        _for(("what-is-preferred-never-costs-a-start",)),
    ),
    Fault(
        "greedy-prefers-nobody",
        "greedy takes any node, whatever its pods prefer",
        switch(
            "solver.problem.neighbours.preferred_pods:PreferredPods.unmet_on",
            lambda old: lambda self, said: old(self, said) * 0,
        ),
        _for(("pods-prefer-to-be-apart",)),
        strategy="greedy",
    ),
    Fault(
        "who-leaves-keeps-others-away",
        "those that may leave keep others out of their domain all the same",
        switch(f"{_AROUND}.afterwards", lambda old: lambda self: self.copy()),
        _for(("who-keeps-others-away-leaves-for-them",)),
    ),
    Fault(
        "nobody-leaves-beside-others",
        "greedy lets nobody leave for pods that ask for others around them",
        switch(
            "solver.evict.greedy.beside_others:BesideOthers._make_place", always(False)
        ),
        _for(
            (
                "who-keeps-others-away-leaves-for-them",
                "room-is-made-in-another-zone-for-each",
            )
        ),
        strategy="greedy",
    ),
    Fault(
        "whom-others-need-leaves",
        "greedy lets those leave whom pods must be near to",
        switch(
            "solver.evict.greedy.beside_others:BesideOthers._let_go_unless_needed",
            lambda old: lambda self, at, node: self._let_go(at),
        ),
        _for(("who-is-needed-does-not-leave",)),
        strategy="greedy",
    ),
    Fault(
        "nobody-is-around-in-half",
        "nobody counts on a gang below its minimum, though it may stay",
        switch(
            "solver.problem.neighbours.pods_around:pods_around",
            lambda old: (
                lambda room, states, gangs, _stale, **more: old(
                    room,
                    states,
                    gangs,
                    frozenset(x.key for x in gangs if x.stale_since is not None),
                    **more,
                )
            ),
        ),
        _for(("who-may-stay-in-half-is-there-for-its-neighbours",)),
    ),
    Fault(
        "somebody-is-reserved-for-nobody",
        "a start near another one is reserved where nobody leaves",
        switch("solver.encode.leaving.round_stage:reserve_for_somebody", always(None)),
        _for(("nobody-is-reserved-where-nobody-leaves",)),
    ),
    Fault(
        "the-entitled-go-on-without-company",
        "what an earlier step has ready lacks those whom the entitled must be near",
        switch(
            "solver.search.step_course:with_company",
            lambda _old: lambda _problem, _draft, keys: keys,
        ),
        _for(("who-is-entitled-keeps-its-neighbour",)),
    ),
    Fault(
        "stale-pods-are-not-spread",
        "who is spread does not reckon with pods of stale gangs that may stay",
        switch(
            "solver.problem.neighbours.spread_counts:SpreadCounts.both",
            lambda old: lambda self, *where: (old(self, *where)[0],) * 2,
        ),
        _for(("who-is-spread-reckons-with-stale-pods",)),
    ),
    Fault(
        "who-is-moved-comes-after-others",
        "a pod that is moved counts nowhere where others are spread",
        switch("models.neighbours:Neighbours.comes_perhaps", always(False)),
        _for(
            (
                "who-is-moved-counts-where-it-comes-to",
                "who-is-moved-makes-place-in-its-zone",
            )
        ),
    ),
    Fault(
        "who-comes-later-crowds-others",
        "greedy keeps the skew of the pod that it places, not that of those before it",
        switch(
            "solver.problem.neighbours.spread_counts:SpreadCounts.come", always(None)
        ),
        _for(("who-comes-later-leaves-others-spread",)),
        strategy="greedy",
    ),
    Fault(
        "nobody-asks-what-movers-ask-for",
        "a round looks at neighbours only where those who wait ask for some",
        switch("solver.problem.neighbours.pods_around:_may_move", always(False)),
        _for(("nobody-moves-where-others-keep-it-away",)),
    ),
    Fault(
        "who-was-moved-is-nowhere",
        "who an earlier step moved is not there for those who come later",
        switch(
            "solver.place.round_state:leave_and_move",
            lambda _old: (
                lambda problem, found, exits, **_gone: [
                    found.leave(problem.gangs[one.gang], one.leaf, one.host)
                    for one in exits
                ]
            ),
        ),
        _for(("who-was-moved-keeps-others-away",)),
    ),
    Fault(
        "promises-beside-others-are-void",
        "a place that was promised to a pod beside others is decided anew",
        switch("solver.evict.kept_beside:KeptBeside.lies_well", always(False)),
        _for(("a-promised-place-beside-others-is-kept",)),
    ),
    Fault(
        "reached-volumes-for-any-number",
        "a volume that several nodes reach serves every claim, in the model",
        switch("solver.encode.neighbours.domain_rows:give_volumes", always(None)),
        ("volumes/two-volumes-of-three-nodes-are-not-enough",),
    ),
    Fault(
        "claims-take-nothing",
        "no claim takes a volume that several nodes reach",
        switch(
            "solver.problem.neighbours.claimed_volumes:ClaimedVolumes.add", always(None)
        ),
        (
            "volumes/what-leaves-keeps-its-volume",
            "volumes/volumes-that-several-nodes-reach-serve-one-claim-each",
        ),
    ),
    Fault(
        "shared-claims-anywhere",
        "nodes of pods that share a claim need not reach its volume, in the model",
        switch("solver.encode.neighbours.volume_rows:_sharing", always({})),
        ("volumes/shared-claims-and-others-take-the-same-volumes",),
    ),
    Fault(
        "slots-once-for-all-nodes",
        "a claim that pods share takes one slot for all of its nodes, in the model",
        switch(
            "solver.encode.neighbours.volume_rows:sharer",
            lambda _: lambda claim, place: claim,
        ),
        ("volumes/a-shared-claim-takes-one-slot-on-each-of-its-nodes",),
    ),
    Fault(
        "shared-claims-of-the-first-node",
        "one node alone of the pods that share a claim reaches its volume",
        switch(
            "solver.problem.neighbours.volume_matching:VolumeMatching.suited",
            lambda old: (
                lambda self, asker: (
                    old(self, (next(iter(self.shared[asker]), -1), asker[1]))
                    if isinstance(asker[0], str)
                    else old(self, asker)
                )
            ),
        ),
        ("volumes/a-volume-that-is-made-for-several-pods-keeps-them-in-its-zone",),
    ),
    Fault(
        "shared-claims-begin-anywhere",
        "greedy begins with a shared claim where its pods have no room",
        switch(
            "solver.problem.neighbours.claimed_volumes:ClaimedVolumes.for_all",
            lambda _: lambda self, said, room, count: room >= 0,
        ),
        ("volumes/a-volume-that-is-made-for-several-pods-keeps-them-in-its-zone",),
        "greedy",
    ),
    Fault(
        "first-come-keeps-its-volume",
        "who has a volume takes no other one for who reaches only that",
        switch(
            "solver.problem.neighbours.volume_matching:VolumeMatching._take_one",
            lambda old: (
                lambda self, asker: (
                    any(self.spare[one] > 0 for one in self.suited(asker))
                    and old(self, asker)
                )
            ),
        ),
        ("volumes/a-claim-leaves-a-volume-to-who-reaches-no-other",),
    ),
]

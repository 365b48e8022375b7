"""
Brute force for evictions in tiny cases: every way to leave, judged by the rules.

It checks the first two steps of the exact small model, each by itself.  Who may be
planned, how pods count and what a gang's own pods must keep is taken from the brute
force without evictions.
"""

from collections import Counter
from itertools import combinations, product

from exact.facts import bounding
from exact.trees import satisfied, tree_nodes
from models.gangs import PodPhase, PodSet, pod_sets
from models.resources import num_gpus
from tests.helpers.rounds.kept_room import leaves_kept_room
from tests.helpers.truth.brute import Brute

RULES = ("reclaim", "preempt", "consolidate")


class BruteEvictions(Brute):
    """
    All legal plans of a first step, or of a second one after which nothing is frozen.
    """

    def __init__(self, snapshot, policy, shares, *, borrowing=False, most=2_000_000):
        super().__init__(snapshot, policy, shares)
        self.borrowing = borrowing
        self.most = most
        self.runners = [
            (key, leaf, pod)
            for (key, leaf), pod_set in self.leaf.items()
            for pod in pod_set.pods
            if pod.phase is PodPhase.RUNNING
        ]
        self.queues = {queue.name: queue for queue in snapshot.queues}
        self.waiting = [
            key for key, f in self.facts.gangs.items() if f.needy and f.plannable
        ]

    def best(self):
        """
        Give the values by band, and what is lost; ``None`` for too many plans.
        """
        groups = {}
        combos = self.combos()
        departures = sorted(
            ((self.loss(gone), gone) for gone in self.departures()),
            key=lambda pair: pair[0],
        )
        if len(combos) * len(departures) > self.most:
            return None
        for combo in combos:
            groups.setdefault(self.worth(combo), []).append(combo)
        for worth in sorted(groups, reverse=True):
            for loss, gone in departures:
                if any(self.works(combo, gone) for combo in groups[worth]):
                    return worth, loss
        return None

    # --- starts -----------------------------------------------------------------

    def combos(self):
        """
        List who starts where and how: gang -> (places, entitled, manner).
        """
        options = []
        most = self.evicted(
            {f"default/{pod.name}": RULES[0] for *_, pod in self.runners}
        )
        for key in self.waiting:
            here = [None]
            for places in () if self.was_evicted(key) else self.smallest(key):
                here += [(places, *how) for how in self.manners()]
            options.append(here)
        found = []
        for parts in product(*options):
            pairs = zip(self.waiting, parts, strict=True)
            combo = {key: part for key, part in pairs if part is not None}
            if self.hard_quota_holds(combo) and self.entitlement_holds(combo, most):
                found.append(combo)
        return found

    def was_evicted(self, key):
        return self.facts.gangs[key].gang.evicted_ago is not None

    def manners(self):
        if self.borrowing:
            return [(True, "bound"), (False, "bound"), (False, "evicting")]
        return [(True, "bound"), (True, "later"), (True, "evicting")]

    def smallest(self, key):
        plans = [plan for plan in self.gang_plans(key) if plan]
        sums = [self.per_leaf(plan) for plan in plans]
        for plan, mine in zip(plans, sums, strict=True):
            if not any(other < mine for other in sums):
                yield plan

    def per_leaf(self, plan):
        counts = Counter()
        for (_, leaf, _), num in plan.items():
            counts[leaf] += num
        return counts

    def demand(self, key, plan):
        asked = Counter()
        for (_, leaf, _), num in plan.items():
            for name, amount in self.leaf[key, leaf].requests.items():
                asked[name] += num * amount
        return asked

    def path(self, key):
        return self.facts.gangs[key].path

    def entitlement_holds(self, combo, evicted):
        """
        Tell whether entitled starts fit; for inner queues what is evicted is room.
        """
        taken = Counter()
        for key, (plan, entitled, _) in combo.items():
            for queue in self.path(key) if entitled else ():
                for name, amount in self.demand(key, plan).items():
                    taken[queue, name] += amount
        return all(
            amount <= max(0, self.left(queue, name, evicted))
            for (queue, name), amount in taken.items()
            if name in self.facts.named
        )

    def left(self, queue, name, evicted):
        """
        Give what a queue has left of its share, with what is evicted from an inner one.
        """
        more = evicted[queue, name] if self.is_inner(queue) else 0
        held = self.facts.held.get((queue, name), 0)
        return self.shares[queue].get(name, 0) - held + more

    def is_inner(self, queue):
        return any(other.parent == queue for other in self.queues.values())

    def evicted(self, gone):
        """
        Add up per queue and resource what is evicted, and not only moved.
        """
        found = Counter()
        for key, leaf, pod in self.runners:
            if gone.get(f"default/{pod.name}") in {"reclaim", "preempt"}:
                for name, amount in self.leaf[key, leaf].requests.items():
                    for queue in self.path(key):
                        found[queue, name] += amount
        return found

    def hard_quota_holds(self, combo):
        taken = Counter()
        for key, (plan, _, _) in combo.items():
            if not self.facts.gangs[key].gang.preemptible:
                for queue in self.path(key):
                    for name, amount in self.demand(key, plan).items():
                        taken[queue, name] += amount
        for (queue, name), amount in taken.items():
            quota = self.queues[queue].rule(name).quota
            held = self.facts.held_hard.get((queue, name), 0)
            counts = name in self.facts.named and quota is not None
            if counts and amount > max(0, quota - held):
                return False
        return True

    def worth(self, combo):
        """
        Give the values of the bands, the highest first; entitled ones before others.
        """
        bands = sorted({self.band(key) for key in self.waiting}, reverse=True)
        ours, others = Counter(), Counter()
        for key, (_, entitled, _) in combo.items():
            fact = self.facts.gangs[key]
            value = self.least[key] * self.policy.quarters(fact.gang.age)
            if entitled:
                ours[self.band(key)] += value * self.modesty(fact, 4)
            else:
                others[self.band(key)] += value * self.modesty(fact, 1)
        entitled = tuple(ours[band] for band in bands)
        if not self.borrowing:
            return entitled
        return (*entitled, *(others[band] for band in bands))

    def modesty(self, fact, none):
        queue = fact.path[0]
        (name,) = self.facts.named
        held = self.facts.held.get((queue, name), 0)
        share = self.shares[queue][name]
        if not share:
            return 1 if held else none
        parts = (1, 2, 3)
        return next((5 - p for p in parts if 4 * held < p * share), 1)

    def band(self, key):
        return self.facts.gangs[key].gang.priority

    # --- who leaves ---------------------------------------------------------------

    def departures(self):
        """
        List every legal way to leave: pod key -> rule.
        """
        names = [f"default/{pod.name}" for _, _, pod in self.runners]
        options = [(None, *self.rules(*runner)) for runner in self.runners]
        for rules in product(*options):
            gone = {n: r for n, r in zip(names, rules, strict=True) if r}
            gangs = {
                key for key, _, pod in self.runners if f"default/{pod.name}" in gone
            }
            if all(self.gang_may_lose(key, gone) for key in gangs) and self.bounded(
                gone
            ):
                yield gone

    def rules(self, key, _leaf, pod):
        gang, evict = self.facts.gangs[key].gang, self.policy.evict
        if not gang.preemptible:
            return
        if gang.evicted_ago is not None and gang.evicted_ago < evict.again:
            return
        path = [self.queues[name] for name in self.path(key)]
        reclaim = max((q.reclaim_min_runtime for q in path), default=0)
        preempt = max((q.preempt_min_runtime for q in path), default=0)
        if evict.reclaim and not self.borrowing and pod.seconds >= reclaim:
            yield "reclaim"
        if evict.preempt and pod.seconds >= preempt:
            yield "preempt"
        comes_back = not self.holds_too_much(key)
        if evict.consolidate and comes_back and pod.seconds >= max(reclaim, preempt):
            yield "consolidate"

    def holds_too_much(self, key):
        """
        Tell whether a queue above a gang holds more than it may of what that asks for.
        """
        fact, held = self.facts.gangs[key], self.facts.held
        asked = {name for leaf in pod_sets(fact.gang.tree) for name in leaf.requests}
        return any(
            held.get((queue.name, name), 0) > queue.rule(name).limit
            for queue in bounding(self.snapshot)
            for name in asked & {*self.facts.named}
            if queue.name in fact.bounding and queue.rule(name).limit is not None
        )

    def gang_may_lose(self, key, gone):
        fact = self.facts.gangs[key]
        tree = fact.gang.tree
        mine = {f"default/{p.name}": leaf for k, leaf, p in self.runners if k == key}
        rules = [gone.get(name) for name in mine]
        if fact.needy:
            return len(set(rules)) == 1 and rules[0] != "consolidate"
        if "consolidate" in rules and set(rules) != {"consolidate"}:
            loose = all(
                x.topology is None and not (isinstance(x, PodSet) and x.exclusive)
                for x in tree_nodes(tree)
            )
            if not loose:
                return False
        after = Counter(fact.counted)
        for name, leaf in mine.items():
            after[leaf] -= name in gone
        return all(
            self.node_lives(x, fact, mine, gone, after) for x in tree_nodes(tree)
        )

    def node_lives(self, node, fact, mine, gone, after):
        names = {leaf.name for leaf in pod_sets(node)}
        live = satisfied(node, fact.counted) and any(fact.counted[x] for x in names)
        below = [name for name, leaf in mine.items() if leaf in names]
        if not live or satisfied(node, after):
            return True
        rules = {gone.get(name) for name in below}
        if len(rules) != 1 or rules == {None}:
            return False
        everybody = all(gone.get(name) == "consolidate" for name in mine)
        return rules != {"consolidate"} or everybody

    def bounded(self, gone):
        evict = self.policy.evict
        gang_of = {f"default/{pod.name}": key for key, _, pod in self.runners}
        evicted = [name for name, rule in gone.items() if rule != "consolidate"]
        checks = (
            (evict.max_pods, len(evicted)),
            (evict.max_gangs, len({gang_of[name] for name in evicted})),
            (evict.max_moves, len(gone) - len(evicted)),
        )
        for budget in self.snapshot.budgets:
            if sum(gang_of[name] in budget.gangs for name in gone) > budget.allowed:
                return False
        return all(most is None or number <= most for most, number in checks)

    def loss(self, gone):
        work = gangs = rank = age = size = 0
        bands = sorted({fact.gang.priority for fact in self.facts.gangs.values()})
        by_gang = {}
        for key, leaf, pod in self.runners:
            rule = gone.get(f"default/{pod.name}")
            by_gang.setdefault(key, []).append(rule)
            if rule:
                work += self.ran(key, leaf, pod.seconds)
                age += pod.seconds
                size += self.facts.gangs[key].values[leaf]
            if rule in {"reclaim", "preempt"}:
                rank += bands.index(self.band(key))
        for rules in by_gang.values():
            gangs += all(rule in {"reclaim", "preempt"} for rule in rules)
        return work, gangs, len(gone), rank, age, size

    def ran(self, key, leaf, seconds):
        """
        Give GPU-seconds; a pod without GPUs has its part of those of the cluster.
        """
        gpus = num_gpus(self.leaf[key, leaf].requests)
        every = sum(num_gpus(node.allocatable) for node in self.nodes.values()) or 1000
        part = self.facts.gangs[key].values[leaf] * every
        return gpus * seconds or -(-part * seconds // 10**9)

    # --- a whole plan -------------------------------------------------------------

    def works(self, combo, gone):
        losers = {key for key, _, pod in self.runners if f"default/{pod.name}" in gone}
        reserved = {key for key, part in combo.items() if part[2] != "bound"}
        return (
            not losers & combo.keys()
            and (not gone or bool(reserved))
            and self.pays(combo, gone, reserved)
            and self.named(gone, reserved)
            and self.reclaims(gone, combo)
            and self.preempts(gone, combo)
            and self.entitlement_holds(combo, self.evicted(gone))
            and self.remembers(combo, self.evicted(gone))
            and self.limits_hold(combo, self.evicted(gone))
            and self.kept_room_is_left(combo, self.evicted(gone))
            and self.has_room(combo, gone)
        )

    def pays(self, combo, gone, reserved):
        most = self.policy.evict.max_lost_per_gpu
        served = {
            key for runner in self.runners for key in self.whom(runner, gone, reserved)
        }
        gained = sum(
            number * self.ran(key, leaf, most or 0)
            for key, (plan, _, how) in combo.items()
            for (_, leaf, _), number in plan.items()
            if how != "bound" and key in served
        )
        return most is None or self.loss(gone)[0] <= gained

    def named(self, gone, reserved):
        return all(
            self.whom(runner, gone, reserved)
            for runner in self.runners
            if f"default/{runner[2].name}" in gone
        )

    def whom(self, runner, gone, reserved):
        """
        List the reserved gangs for which a pod that leaves may do so.
        """
        key, _, pod = runner
        rule = gone.get(f"default/{pod.name}")
        queue = self.path(key)[0]
        same = {x for x in reserved if self.path(x)[0] == queue}
        above = {x for x in same if self.band(x) > self.band(key)}
        whom = {"reclaim": reserved - same, "preempt": above}.get(rule, reserved)
        return whom if rule else set()

    def units(self, gone, rule):
        """
        List units by what they ask for; a surplus pod counts as holding what its core
        does, where it goes with one.
        """
        for key in sorted({key for key, _, _ in self.runners}):
            fact = self.facts.gangs[key]
            for names, core in self.pieces(key, fact.gang.tree, gone, rule):
                asked = self.asked(key, names)
                yield key, asked, asked + self.asked(key, core)

    def asked(self, key, names):
        total = Counter()
        for k, leaf, pod in self.runners:
            if k == key and pod.name in names:
                total.update(self.leaf[k, leaf].requests)
        return +total

    def pieces(self, key, tree, gone, rule):
        """
        Split what leaves into units; with each the core of an emptied node above it.
        """
        mine = [x for x in self.alive(tree) if gone.get(f"default/{x}") == rule]
        if mine and len(mine) == len(self.alive(tree)):
            core = self.core(key, tree)
            if core:
                yield core, core
            yield from (({name}, core) for name in mine if name not in core)
        elif isinstance(tree, PodSet):
            yield from (({name}, set()) for name in mine)
        else:
            for child in tree.children:
                yield from self.pieces(key, child, gone, rule)

    def alive(self, tree):
        return [
            pod.name
            for leaf in pod_sets(tree)
            for pod in leaf.pods
            if pod.phase is PodPhase.RUNNING
        ]

    def core(self, key, tree):
        """
        Take away all pods that may go while the node holds, the last ones first.
        """
        fact = self.facts.gangs[key]
        root = tree is fact.gang.tree
        names = self.alive(tree)
        if fact.needy and root:
            return set(names)
        live = satisfied(tree, fact.counted) and any(
            fact.counted[leaf.name] for leaf in pod_sets(tree)
        )
        if not live or fact.needy or fact.ordinary:
            return set()
        needed = set(names)
        for name in reversed(names):
            if self.suffices(key, tree, needed - {name}):
                needed.discard(name)
        return needed

    def suffices(self, key, tree, names):
        fact = self.facts.gangs[key]
        after = Counter(fact.counted)
        for leaf in pod_sets(tree):
            for pod in leaf.pods:
                running = pod.phase is PodPhase.RUNNING
                after[leaf.name] -= running and pod.name not in names
        return satisfied(tree, after)

    def reclaims(self, gone, combo):
        units = list(self.units(gone, "reclaim"))
        return not units or any(
            self.reclaims_for(units, combo, sure)
            for sure in self.guaranteed(combo, self.evicted(gone))
        )

    def guaranteed(self, combo, evicted):
        """
        Walk all sets of entitled starts that leave their queues within their quotas.
        """
        called = [key for key, part in combo.items() if part[1]]
        for size in range(len(called) + 1):
            for some in combinations(called, size):
                teams = {mate for key in some for mate in self.facts.gangs[key].mates}
                if teams <= set(some) and self.within_quotas(some, combo, evicted):
                    yield some

    def within_quotas(self, keys, combo, evicted):
        taken = Counter()
        for key in keys:
            for queue in self.path(key):
                for name, amount in self.demand(key, combo[key][0]).items():
                    taken[queue, name] += amount
        for (queue, name), amount in taken.items():
            quota = self.queues[queue].rule(name).quota
            if quota is None or name not in self.facts.named or not amount:
                continue
            more = evicted[queue, name] if self.is_inner(queue) else 0
            held = self.facts.held.get((queue, name), 0) + self.memory(queue, name)
            if amount > quota - held + more:
                return False
        return True

    def reclaims_for(self, units, combo, sure):
        for name, queue in self.queues.items():
            below = [unit for key, *unit in units if name in self.path(key)]
            if below and not self.queue_may_lose(queue, below, combo, sure):
                return False
        return True

    def queue_may_lose(self, queue, units, combo, sure):
        inner = self.is_inner(queue.name)
        within, without = Counter(), Counter()
        for key, (plan, entitled, _) in combo.items():
            if entitled:
                side = within if queue.name in self.path(key) else without
                side.update(self.demand(key, plan))
        lost = {}
        for name in self.facts.named:
            lost[name] = sum(unit[name] for unit, _ in units)
            if inner:
                lost[name] = min(max(0, lost[name] - within[name]), without[name])
        if inner and not any(lost.values()):
            return True
        for name, taken in lost.items():
            largest = max(unit[name] for unit, _ in units)
            running = self.facts.held.get((queue.name, name), 0)
            share = self.shares[queue.name].get(name, 0)
            last = min(largest, taken)
            above = running - taken + last > share
            quota = queue.rule(name).quota
            asked = sum(
                self.demand(key, combo[key][0]).get(name, 0)
                for key in sure
                if queue.name not in self.path(key)
            )
            if asked and quota is not None and running - taken + last > quota:
                above = above or taken - last < max(0, running - share) + asked
            if above and without[name] and all(held[name] for _, held in units):
                return True
        return False

    def preempts(self, gone, combo):
        units = list(self.units(gone, "preempt"))
        for queue in {self.path(key)[0] for key, *_ in units}:
            here = [
                (self.band(key), *unit)
                for key, *unit in units
                if self.path(key)[0] == queue
            ]
            names = {name for _, asked, _ in here for name in asked}
            if not any(self.preempts_of(queue, here, name, combo) for name in names):
                return False
        return True

    def preempts_of(self, queue, units, name, combo):
        if not all(held[name] for _, _, held in units):
            return False
        for band in {band for band, *_ in units}:
            high = [asked[name] for b, asked, _ in units if b >= band]
            here = {
                key: plan
                for key, (plan, entitled, _) in combo.items()
                if self.path(key)[0] == queue and not (self.borrowing and entitled)
            }
            above = [key for key in here if self.band(key) > band]
            starts = sum(self.demand(key, here[key])[name] for key in above)
            if sum(high) - max(high) >= starts or len(above) < len(here):
                return False
        return True

    def remembers(self, combo, evicted):
        """
        Tell whether starts fit beside the gangs that were evicted before.
        """
        if self.borrowing:
            return True
        for key, (plan, _, _) in combo.items():
            for queue in self.path(key):
                for name in self.facts.named:
                    asked = sum(
                        self.demand(k, p)[name]
                        for k, (p, _, _) in combo.items()
                        if queue in self.path(k)
                    )
                    asked += self.memory(queue, name)
                    room = self.left(queue, name, evicted)
                    if self.demand(key, plan)[name] and asked > room:
                        return False
        return True

    def could_start(self, key):
        """
        Tell whether a gang could start if it had all nodes to itself.
        """
        return any(self.fits_empty(key, plan) for plan in self.smallest(key))

    def fits_empty(self, key, plan):
        load = Counter()
        for (_, leaf, node), num in plan.items():
            for name, amount in self.leaf[key, leaf].requests.items():
                load[node, name] += num * amount
        for queue in self.path(key):
            for name, amount in self.demand(key, plan).items():
                limit = self.queues[queue].rule(name).limit
                if limit is not None and amount > limit:
                    return False
        asked = Counter()
        for name, amount in self.demand(key, plan).items():
            asked[self.path(key)[0], name] = amount
        named = self.facts.named
        return leaves_kept_room(self.snapshot, named, Counter(), asked) and all(
            amount <= self.nodes[node].allocatable.get(name, 0)
            for (node, name), amount in load.items()
        )

    def limits_hold(self, combo, evicted):
        for name, queue in self.queues.items():
            for resource in self.facts.named:
                limit = queue.rule(resource).limit
                if limit is None:
                    continue
                left = limit - self.facts.held.get((name, resource), 0)
                after = left + evicted[name, resource]
                manners = {"bound": left, "later": left, "evicting": after}
                asked = Counter()
                for key, (plan, _, how) in combo.items():
                    if name in self.path(key):
                        for each in self.not_before(how):
                            asked[each] += self.demand(key, plan)[resource]
                for how, amount in asked.items():
                    if amount > max(0, manners[how]):
                        return False
        return True

    def kept_room_is_left(self, combo, evicted):
        asked = {how: Counter() for how in self.not_before("bound")}
        for key, (plan, _, how) in combo.items():
            queue = self.path(key)[0]
            for each in self.not_before(how):
                for name, amount in self.demand(key, plan).items():
                    asked[each][queue, name] += amount
        rows = {how: Counter() for how in asked} | {"evicting": evicted}
        held = Counter(self.facts.held)
        return all(
            leaves_kept_room(self.snapshot, self.facts.named, held, part, rows[how])
            for how, part in asked.items()
        )

    def not_before(self, how):
        """
        List the rooms that a start has to fit into: its own, and every later one.
        """
        manners = ("bound", "later", "evicting")
        return manners[manners.index(how) :]

    def has_room(self, combo, gone):
        free = {
            how: {name: Counter(room) for name, room in self.facts.free.items()}
            for how in ("bound", "later", "evicting")
        }
        for fact in self.facts.gangs.values():
            for leaf in pod_sets(fact.gang.tree):
                for pod in leaf.pods:
                    young = pod.phase is PodPhase.TERMINATING and pod.seconds < 120
                    leaves = f"default/{pod.name}" in gone
                    if young:
                        free["later"][pod.node].update(leaf.requests)
                    if young or leaves:
                        free["evicting"][pod.node].update(leaf.requests)
        for key, (plan, _, how) in combo.items():
            for (_, leaf, node), num in plan.items():
                for name, amount in self.leaf[key, leaf].requests.items():
                    for each in self.not_before(how):
                        free[each][node][name] -= num * amount
        if any(
            n < 0 for rooms in free.values() for c in rooms.values() for n in c.values()
        ):
            return False
        return self.moves_fit(gone, free["evicting"])

    def moves_fit(self, gone, free):
        moved = [
            (key, leaf)
            for key, leaf, pod in self.runners
            if gone.get(f"default/{pod.name}") == "consolidate"
        ]
        for nodes in product(self.nodes, repeat=len(moved)):
            if self.new_places_hold(moved, nodes, free):
                return True
        return False

    def new_places_hold(self, moved, nodes, free):
        asked = {}
        plans = {}
        for (key, leaf), node in zip(moved, nodes, strict=True):
            asked.setdefault(node, Counter()).update(self.leaf[key, leaf].requests)
            plan = plans.setdefault(key, Counter())
            plan[key, leaf, node] += 1
            if not self.leaf[key, leaf].demand.allows(self.nodes[node]):
                return False
        for node, load in asked.items():
            if any(amount > free[node][name] for name, amount in load.items()):
                return False
        running, self.running = self.running, Counter()
        try:
            return all(self.stands(key, plan) for key, plan in plans.items())
        finally:
            self.running = running

    def stands(self, key, plan):
        """
        Tell whether moved pods are where their gang's pods may be together.
        """
        tree = self.facts.gangs[key].gang.tree
        return all(self.domain_legal(key, x, plan) for x in tree_nodes(tree)) and all(
            self.alone(key, node, plan) for node in self.nodes
        )

    def memory(self, queue, name):
        """
        Add up what gangs below a queue ask for that wait and were evicted before.
        """
        return sum(
            min(self.demand(k, p)[name] for p in self.smallest(k))
            for k in self.waiting
            if queue in self.path(k) and self.was_evicted(k) and self.could_start(k)
        )

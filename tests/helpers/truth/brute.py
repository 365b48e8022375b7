"""
Brute force for tiny cases: every way to bind, judged by the words of the semantics.

It checks the exact small model, which checks the solver.  Only who may be planned and
how pods count is taken from the small model's facts.
"""

from collections import Counter
from itertools import combinations, product

from exact import gather
from exact.trees import satisfied, tree_nodes
from models.gangs import PodPhase, PodSet, pod_sets
from models.resources import CPU, is_gpu
from tests.helpers.rounds.kept_room import leaves_kept_room


class Brute:
    """
    All legal plans of a snapshot, and the best of them.
    """

    def __init__(self, snapshot, policy, shares):
        self.snapshot = snapshot
        self.policy = policy
        self.shares = shares
        self.facts = gather(snapshot)
        self.nodes = {node.name: node for node in snapshot.nodes}
        self.leaf = {
            (key, leaf.name): leaf
            for key, fact in self.facts.gangs.items()
            for leaf in pod_sets(fact.gang.tree)
        }
        self.least = {
            key: self.least_value(fact) for key, fact in self.facts.gangs.items()
        }
        self.running = Counter(
            (key, leaf, pod.node)
            for (key, leaf), pod_set in self.leaf.items()
            for pod in pod_set.pods
            if pod.phase is PodPhase.RUNNING
        )

    def best(self):
        """
        Give the best vector, as the oracle does.
        """
        found = None
        for plan in self.plans():
            for entitled in self.entitlements(plan):
                vector = self.vector(plan, entitled)
                rank = [sign * value for _, _, sign, value in vector]
                if found is None or rank > found[0]:
                    found = rank, vector
        return [(name, band, value) for name, band, _, value in found[1]]

    # --- plans ------------------------------------------------------------------

    def plans(self):
        """
        List every legal plan as counts per (gang, leaf, node).
        """
        gangs = [self.gang_plans(key) for key in self.facts.gangs]
        for parts in product(*gangs):
            plan = {where: num for part in parts for where, num in part.items()}
            if self.legal(plan):
                yield plan

    def gang_plans(self, key):
        fact = self.facts.gangs[key]
        leaves = list(fact.pending) if fact.plannable else []
        options = [self.leaf_plans(key, leaf, fact.pending[leaf]) for leaf in leaves]
        found = []
        for parts in product(*options):
            plan = {where: num for part in parts for where, num in part.items()}
            if not plan or self.gang_legal(key, plan):
                found.append(plan)
        return found

    def leaf_plans(self, key, leaf, pending):
        demand = self.leaf[key, leaf].demand
        names = [name for name, node in self.nodes.items() if demand.allows(node)]
        found = []
        for nums in product(range(pending + 1), repeat=len(names)):
            if sum(nums) <= pending:
                pairs = zip(names, nums, strict=True)
                found.append({(key, leaf, n): num for n, num in pairs if num})
        return found

    def gang_legal(self, key, plan):
        fact = self.facts.gangs[key]
        tree = fact.gang.tree
        new = Counter()
        for (_, leaf, _), num in plan.items():
            new[leaf] += num
        if not fact.ordinary and not self.tree_legal(fact, new):
            return False
        if not all(self.domain_legal(key, x, plan) for x in tree_nodes(tree)):
            return False
        return all(self.alone(key, node, plan) for node in self.nodes)

    def tree_legal(self, fact, new):
        after = {leaf: fact.counted[leaf] + new[leaf] for leaf in fact.counted}
        if not satisfied(fact.gang.tree, after):
            return False
        for node in tree_nodes(fact.gang.tree):
            grows = any(new[leaf.name] for leaf in pod_sets(node))
            if grows and not satisfied(node, after):
                return False
            if grows and isinstance(node, PodSet):
                firsts = {x.name: x.minimum for x in pod_sets(fact.gang.tree)}
                if any(after[first] < firsts[first] for first in node.after):
                    return False
        return True

    def domain_legal(self, key, tree, plan):
        topology = tree.topology
        below = {leaf.name for leaf in pod_sets(tree)}
        new = {where[2] for where in plan if where[1] in below}
        if topology is None or topology.required is None or not new:
            return True
        domains = self.domains(key, tree, topology.required, new)
        return len(domains) == 1 and None not in domains

    def domains(self, key, tree, level, new):
        below = {leaf.name for leaf in pod_sets(tree)}
        old = {n for k, leaf, n in self.running if k == key and leaf in below}
        topology = self.snapshot.topologies[0]
        return {topology.domain(self.nodes[n].labels, level) for n in new | old}

    def alone(self, key, node, plan):
        here = {w: n for w, n in plan.items() if w[2] == node}
        both = Counter(here)
        for where, num in self.running.items():
            if where[0] == key and where[2] == node:
                both[where] += num
        exclusive = any(self.leaf[k, leaf].exclusive for k, leaf, _ in both)
        return not here or not exclusive or sum(both.values()) <= 1

    def legal(self, plan):
        return self.fits(plan) and self.queues_allow(plan) and self.together(plan)

    def fits(self, plan):
        load = Counter()
        for (key, leaf, node), num in plan.items():
            for name, amount in self.leaf[key, leaf].requests.items():
                load[node, name] += amount * num
        return all(
            not amount or amount <= self.facts.free[node].get(name, 0)
            for (node, name), amount in load.items()
        )

    def queues_allow(self, plan):
        new = Counter()
        hard = Counter()
        for (key, leaf, _), num in plan.items():
            fact = self.facts.gangs[key]
            for queue in fact.path:
                for name, amount in self.leaf[key, leaf].requests.items():
                    new[queue, name] += amount * num
                    if not fact.gang.preemptible:
                        hard[queue, name] += amount * num
        held = Counter(self.facts.held)
        if not leaves_kept_room(self.snapshot, self.facts.named, held, new):
            return False
        for queue in self.snapshot.queues:
            for name in self.facts.named:
                where = queue.name, name
                rule = queue.rule(name)
                held = self.facts.held.get(where, 0) + new[where]
                firm = self.facts.held_hard.get(where, 0) + hard[where]
                if rule.limit is not None and new[where] and held > rule.limit:
                    return False
                if rule.quota is not None and hard[where] and firm > rule.quota:
                    return False
        return True

    def together(self, plan):
        started = self.starts(plan)
        return all(
            mate in started for key in started for mate in self.facts.gangs[key].mates
        )

    def starts(self, plan):
        got = {key for key, _, _ in plan}
        return sorted(key for key in got if self.facts.gangs[key].needy)

    # --- entitlement --------------------------------------------------------------

    def entitlements(self, plan):
        """
        List the sets of starts that may be entitled.
        """
        starts = self.starts(plan)
        if not self.facts.named:
            return [set(starts)]
        return [
            set(chosen)
            for size in range(len(starts) + 1)
            for chosen in combinations(starts, size)
            if self.entitled_legal(plan, set(chosen))
        ]

    def entitled_legal(self, plan, chosen):
        for key in chosen:
            if any(mate not in chosen for mate in self.facts.gangs[key].mates):
                return False
        cores = [self.cores(plan, key) for key in sorted(chosen)]
        return any(self.share_allows(parts) for parts in product(*cores))

    def cores(self, plan, key):
        fact = self.facts.gangs[key]
        bound = Counter()
        for (k, leaf, _), num in plan.items():
            if k == key:
                bound[leaf] += num
        return [(key, core) for core in self.sets(fact, bound)]

    def sets(self, fact, most):
        """
        List the counts of pods that satisfy what a gang still needs.
        """
        names = list(fact.pending)
        found = []
        for nums in product(*(range(most[name] + 1) for name in names)):
            new = Counter(dict(zip(names, nums, strict=True)))
            if self.tree_legal(fact, new):
                found.append(new)
        return found

    def share_allows(self, parts):
        charge = Counter()
        for key, core in parts:
            for leaf, num in core.items():
                for queue in self.facts.gangs[key].path:
                    for name in self.facts.named:
                        amount = self.leaf[key, leaf].requests.get(name, 0)
                        charge[queue, name] += num * amount
        return all(
            amount <= max(0, self.shares[q][r] - self.facts.held.get((q, r), 0))
            for (q, r), amount in charge.items()
        )

    # --- tiers --------------------------------------------------------------------

    def least_value(self, fact):
        if not fact.needy:
            return 0
        worth = [
            sum(fact.values[leaf] * num for leaf, num in new.items())
            for new in self.sets(fact, Counter(fact.pending))
        ]
        return min(worth, default=0)

    def vector(self, plan, entitled):
        starts = set(self.starts(plan))
        needy = [
            key
            for key, fact in self.facts.gangs.items()
            if fact.needy and fact.plannable and any(fact.pending.values())
        ]
        band = {key: self.band(key) for key in needy}
        bands = sorted(set(band.values()), reverse=True)
        rows = []
        for name in [tier.name for tier in self.policy.tiers] + ["order"]:
            if name in {"entitled", "borrowing"}:
                chosen = entitled if name == "entitled" else starts - entitled
                for label in bands:
                    mine = [key for key in chosen if band[key] == label]
                    value = sum(
                        self.worth(key) * self.modesty(key, name == "entitled")
                        for key in mine
                    )
                    rows.append((name, label, 1, value))
            elif name == "disruption":
                rows.append((name, None, -1, 0))
            else:
                sign = -1 if name in {"topology", "packing"} else 1
                value = getattr(self, name)(plan, starts, needy)
                rows.append((name, None, sign, value))
        return rows

    def band(self, key):
        team = (key, *self.facts.gangs[key].mates)
        return min(self.facts.gangs[k].gang.priority for k in team)

    def worth(self, key):
        return self.least[key] * self.policy.quarters(self.facts.gangs[key].gang.age)

    def modesty(self, key, entitled):
        path = self.facts.gangs[key].path
        if not path:
            return 4 if entitled else 1
        queue = path[0]
        ratios = []
        for name in self.facts.named:
            share = self.shares[queue][name]
            held = self.facts.held.get((queue, name), 0)
            if share:
                ratios.append(held / share)
            elif held:
                ratios.append(1)
        ratio = max(ratios, default=0 if entitled else 1)
        return 4 if ratio < 0.25 else 3 if ratio < 0.5 else 2 if ratio < 0.75 else 1

    def topology(self, plan, starts, needy):
        total = 0
        for key, fact in self.facts.gangs.items():
            if not fact.plannable or not any(fact.pending.values()):
                continue
            for tree in tree_nodes(fact.gang.tree):
                if tree.topology is None or tree.topology.preferred is None:
                    continue
                below = {leaf.name for leaf in pod_sets(tree)}
                new = {n for k, leaf, n in plan if k == key and leaf in below}
                domains = self.domains(key, tree, tree.topology.preferred, new)
                total += max(0, len(domains) - 1)
        return total

    def surplus(self, plan, starts, needy):
        bound = sum(
            self.facts.gangs[key].values[leaf] * num
            for (key, leaf, _), num in plan.items()
        )
        return bound - sum(self.least[key] for key in starts)

    def packing(self, plan, starts, needy):
        gpus = any(
            amount and is_gpu(name)
            for node in self.snapshot.nodes
            for name, amount in node.allocatable.items()
        )
        total = 0
        for node in {node for _, _, node in plan}:
            free = self.facts.free[node]
            if gpus:
                hole = sum(amount for name, amount in free.items() if is_gpu(name))
            else:
                hole = free[CPU] // 1000
            total += hole**2
        return total

    def order(self, plan, starts, needy):
        line = sorted(needy, key=lambda k: (-self.facts.gangs[k].gang.age, k))
        return sum(len(line) - line.index(key) for key in starts)

"""
The judge: every rule in turn, on evidence gathered once.

It shares no code with the problem, the encoding, the greedy strategy or decoding, so
that a mistake there is not repeated here.
"""

from collections.abc import Callable, Iterator
from typing import Final

from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.verify import gangs, held_idle, nodes, operations, plan_claims, queues
from solver.verify.devices import device_loads, device_names, left_over
from solver.verify.evidence import Evidence, evidence_of
from solver.verify.known import JudgeMemo
from solver.verify.leaving import (
    entitled_room,
    eviction_costs,
    lent_gangs,
    reserved_cores,
    victims_allowed,
)
from solver.verify.leaving import eviction_bounds as losses
from solver.verify.leaving import for_whom as rights
from solver.verify.leaving import settled_rounds as settled
from solver.verify.neighbours import near_and_apart, spread_pods, volumes_for_claims
from solver.verify.shares import entitlement, guaranteed_starts, lending
from solver.verify.violation import Violation

Rule = Callable[[Evidence], Iterator[Violation]]

RULES: Final[dict[str, Rule]] = {
    "unknown-operation": operations.unknown_operations,
    "unknown-pod": operations.unknown_pods,
    "unknown-node": operations.unknown_nodes,
    "pod-not-pending": operations.pods_not_pending,
    "pod-not-running": operations.pods_not_running,
    "node-capacity": nodes.node_capacities,
    "device-named": device_names.device_names,
    "device-capacity": device_loads.device_capacities,
    "node-demand": nodes.node_demands,
    "exclusive": nodes.exclusive_hosts,
    "topology-required": nodes.required_domains,
    "pods-apart": near_and_apart.pods_apart,
    "pods-near": near_and_apart.pods_near,
    "pods-spread": spread_pods.pods_spread,
    "volume-for-claim": volumes_for_claims.volumes_for_claims,
    "gang-minimum": gangs.gang_minimums,
    "leaf-minimum": gangs.leaf_minimums,
    "subgroup-minimum": gangs.subgroup_minimums,
    "role-order": gangs.role_orders,
    "gang-group": gangs.gang_groups,
    "not-ready": gangs.gangs_not_ready,
    "bind-and-reserve": gangs.gangs_in_two_minds,
    "timed-out": gangs.timed_out_gangs,
    "refused": gangs.refused_gangs,
    "backoff": gangs.gangs_backing_off,
    "min-resources": gangs.minimum_resources,
    "queue-missing": queues.queues_missing,
    "queue-closed": queues.queues_closed,
    "queue-inner": queues.queues_inner,
    "queue-limit": queues.queue_limits,
    "queue-quota": queues.queue_quotas,
    "lending-limit": lending.lending_limits,
    "entitled": entitlement.entitlements,
    "entitled-group": entitlement.entitled_groups,
    "guaranteed": guaranteed_starts.guarantees,
    "right-to-evict": entitlement.rights_to_evict,
    "entitled-room": entitled_room.entitled_rooms,
    "eviction-rule": victims_allowed.eviction_rules,
    "eviction-switch": victims_allowed.eviction_switches,
    "not-preemptible": victims_allowed.fixed_victims,
    "evicted-again": victims_allowed.victims_again,
    "settled": settled.settled_rounds,
    "min-runtime": victims_allowed.min_runtimes,
    "budget": victims_allowed.budgets,
    "victim-minimum": victims_allowed.victim_minimums,
    "victim-placed": victims_allowed.victims_with_places,
    "move-whole": victims_allowed.whole_moves,
    "stale-gang": victims_allowed.stale_gangs,
    "lend": lent_gangs.lent_gangs,
    "reserved-surplus": reserved_cores.reserved_cores,
    "beneficiary": rights.beneficiaries,
    "reclaimed-for": rights.reclaimed_for,
    "preempted-for": rights.preempted_for,
    "preempted-beside": rights.preempted_beside,
    "reclaim-bound": losses.reclaim_bounds,
    "preempt-bound": losses.preempt_bounds,
    "eviction-bound": eviction_costs.eviction_bounds,
    "tier-bound": plan_claims.tier_bounds,
    "tier-proof": plan_claims.tier_proofs,
    "expected-fragments": left_over.expected_fragments,
    "lost-claim": eviction_costs.lost_claims,
    "plan-status": plan_claims.plan_status,
    "gang-line": plan_claims.gang_lines,
    "held-claim": held_idle.held_claims,
    "hold-claim": held_idle.hold_claims,
}


def verify(
    snapshot: Snapshot, policy: Policy, plan: Plan, memo: JudgeMemo | None = None
) -> tuple[Violation, ...]:
    """
    Judge a finished plan, made here or elsewhere, and name every broken rule.

    With any ``memo`` the verdict is the same: what one with it would reject is judged
    without it.

    Returns
    -------
    All violations, rule by rule; none when the plan holds.
    """
    found = _violations(evidence_of(snapshot, policy, plan, memo or JudgeMemo()))
    if found and memo is not None:
        return _violations(evidence_of(snapshot, policy, plan, JudgeMemo()))
    return found


def _violations(evidence: Evidence) -> tuple[Violation, ...]:
    return tuple(found for rule in RULES.values() for found in rule(evidence))

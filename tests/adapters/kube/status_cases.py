"""
A round told to the server on loopback, in the words of each dialect.

``python -m tests.adapters.kube.status_cases`` writes the golden files anew.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

from adapters.kube.api.client import Transport
from adapters.kube.api.connect import connect
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.registry import dialects_of
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.gangs.kinds import resources_of
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import Reducer
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.status.k8s_events import EVENTS, Notices
from adapters.kube.status.sayings import Told
from adapters.kube.status.voice import Voice
from adapters.kube.status.writer import StatusWriter
from models.policy import Policy
from models.receipt import Receipt
from solver.round import decide
from tests.adapters.kube.following import TIMEOUTS, kubeconfig
from tests.adapters.kube.writing_server import WritingServer
from tests.cluster.manifests import GPU, custom, node, pod

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "status"
NOW = 1_793_520_000.0
DIALECTS = dialects_of(owned=("koordinator",))
RESOURCES = resources_of(DIALECTS)
BY_PLACE = {(r.group, r.version, r.kind): r for r in RESOURCES}
GANGS = {
    "fits": (2, 2, 1),
    "waits": (2, 2, 8),
    "short": (3, 1, 1),
    "later": (10, 0, 1),
}
"""
One that starts, one without room, one that lacks pods, one whose pods are made when
there is room: minimum, pods, GPUs of each.
"""
MORE_GANGS = {"kai": {"over": (1, 1, 6), "silent": (2, 2, 8)}}
"""
One above the limit of its queue, one whose pods are not to be marked.
"""
ANNOTATED = "gang.scheduling.koordinator.sh"


def kai(name: str, least: int) -> tuple[dict, dict]:
    group = custom(
        "scheduling.run.ai/v2alpha2", "PodGroup", name, "team", minMember=least
    )
    return group, {"annotations": {"pod-group-name": name}}


def volcano(api: str):
    def made(name: str, least: int) -> tuple[dict, dict]:
        more = {"minResources": {GPU: "10"}} if name == "later" else {}
        group = custom(api, "PodGroup", name, "team", minMember=least, **more)
        return group, {"annotations": {"scheduling.k8s.io/group-name": name}}

    return made


def coscheduling(name: str, least: int) -> tuple[dict, dict]:
    api = "scheduling.x-k8s.io/v1alpha1"
    group = custom(api, "PodGroup", name, "team", minMember=least)
    return group, {"labels": {"scheduling.x-k8s.io/pod-group": name}}


def koordinator(name: str, least: int) -> tuple[dict, dict]:
    api = "scheduling.sigs.k8s.io/v1alpha1"
    group = custom(api, "PodGroup", name, "team", minMember=least)
    said = {f"{ANNOTATED}/mode": "Strict"}
    return group, {
        "labels": {"pod-group.scheduling.sigs.k8s.io": name},
        "annotations": said,
    }


def annotated(name: str, least: int) -> tuple[None, dict]:
    said = {f"{ANNOTATED}/name": name, f"{ANNOTATED}/min-available": str(least)}
    return None, {"annotations": said}


def ack(name: str, least: int) -> tuple[None, dict]:
    words = "pod-group.scheduling.sigs.k8s.io"
    said = {f"{words}/name": name, f"{words}/min-available": str(least)}
    return None, {"labels": said}


def native(name: str, least: int) -> tuple[dict, dict]:
    policy = {"gang": {"minCount": least}}
    api = "scheduling.k8s.io/v1beta1"
    group = custom(api, "PodGroup", name, "team", schedulingPolicy=policy)
    return group, {"schedulingGroup": {"podGroupName": name}}


CASES = {
    "kai": kai,
    "volcano": volcano("scheduling.volcano.sh/v1beta1"),
    "kube-batch": volcano("scheduling.incubator.k8s.io/v1alpha1"),
    "roc": volcano("scheduling.roc/v1beta1"),
    "coscheduling": coscheduling,
    "koordinator": koordinator,
    "koordinator-annotations": annotated,
    "ack": ack,
    "native": native,
}


def manifests(case: str) -> Iterator[dict]:
    """
    Write a node, and the gangs in the words of a dialect.
    """
    yield node(0)
    if case == "kai":
        any_number = {"quota": -1, "overQuotaWeight": 1, "limit": -1}
        shares = {"cpu": any_number, "memory": any_number}
        for queue, gpus in (("default", 8), ("small", 4)):
            gpu = {"quota": gpus, "overQuotaWeight": 1, "limit": gpus}
            said = shares | {"gpu": gpu}
            yield custom("scheduling.run.ai/v2", "Queue", queue, resources=said)
    if case in {"volcano", "kube-batch", "roc"}:
        api = CASES[case]("any", 1)[0]["apiVersion"]
        yield custom(api, "Queue", "default", weight=1) | {"status": {"state": "Open"}}
    gangs = GANGS | MORE_GANGS.get(case, {})
    for name, (least, number, gpus) in gangs.items():
        group, words = CASES[case](name, least)
        if group is not None:
            if case == "kai":
                group["spec"]["queue"] = "small" if name == "over" else "default"
                group["spec"]["markUnschedulable"] = name != "silent"
            yield group
        for index in range(number):
            yield pod("team", f"{name}-{index}", gpus=gpus, **words)


def put(server: WritingServer, raw: dict) -> None:
    """
    Store a manifest as a server would, with a uid.
    """
    group, _, version = raw["apiVersion"].rpartition("/")
    resource = BY_PLACE[group, version, raw["kind"]]
    meta = raw["metadata"]
    server.put(resource, raw | {"metadata": meta | {"uid": f"uid-{meta['name']}"}})


class Telling:
    """
    A server with the gangs of one case, what was read of it last, a status writer.

    ``clock`` is what the writer and its notices take for seconds.
    """

    def __init__(self, server: WritingServer, transport: Transport) -> None:
        self.server = server
        self.clock = [0.0]
        self.counted: list[tuple[str, str]] = []
        self.transport = transport
        self.rounds = 0
        self._assembler = Assembler(DIALECTS)
        self.caught_up()
        self.writer = self.fresh()

    def caught_up(self) -> None:
        """
        Read the server as it is now.
        """
        by_kind, reducer = {}, Reducer()
        for kind in self.server.kinds.values():
            place = kind.resource.group, kind.resource.kind
            by_kind[place] = tuple(kind.objects.values())
        self.pods = {
            record.key: record for record in map(reducer.pod, by_kind.pop(("", "Pod")))
        }
        self.nodes = tuple(map(node_record, by_kind.pop(("", "Node"))))
        self.objects = Objects(by_kind=by_kind)

    def lookup(self, keys: Iterable[str]) -> list[PodRecord]:
        return [self.pods[key] for key in keys if key in self.pods]

    def fresh(self, **pace: object) -> StatusWriter:
        """
        Make a writer that knows nothing, as after a restart.
        """
        clock = self._seconds
        notices = Notices(self.transport, "phalanx-0", clock=clock, now=lambda: NOW)
        voice = Voice(
            transport=self.transport,
            dialects=DIALECTS,
            lookup=self.lookup,
            notices=notices,
            counted=lambda what, outcome: self.counted.append((what, outcome)),
        )
        return StatusWriter(voice, clock=clock, **pace)

    def _seconds(self) -> float:
        return self.clock[0]

    def told(self, refuse: str = "", message: str = "denied") -> Told:
        """
        Plan a round as the cluster is now; ``refuse`` is a gang that is not bound.
        """
        made = self._assembler.assembled(
            self.pods.values(), self.nodes, self.objects, NOW
        )
        plan = decide(made.snapshot, Policy(), strategy="greedy")
        receipts = [
            Receipt(
                operation=step,
                result="refused" if step.gang == refuse else "done",
                message=message if step.gang == refuse else "",
            )
            for step in plan.operations
        ]
        self.rounds += 1
        return Told(
            round=f"r{self.rounds}",
            now=NOW,
            assembled=made,
            plan=plan,
            receipts=receipts,
        )

    def bind(self, told: Told) -> None:
        """
        Let the pods that a round bound run.
        """
        pods = BY_PLACE["", "v1", "Pod"]
        for receipt in told.receipts:
            if receipt.result == "done":
                raw = deepcopy(self.server.object(pods, receipt.operation.pod))
                raw["spec"]["nodeName"] = receipt.operation.node
                raw["status"] = {"phase": "Running"}
                self.server.put(pods, raw)


@contextmanager
def telling(case: str, folder: Path, *more: dict) -> Iterator[Telling]:
    """
    Serve the gangs of a case.
    """
    with WritingServer(*RESOURCES, EVENTS) as server:
        for raw in (*manifests(case), *more):
            put(server, raw)
        transport = connect(kubeconfig(folder, server.url), timeouts=TIMEOUTS)
        yield Telling(server, transport)
        transport.close()


def held(server: WritingServer) -> dict:
    """
    Give what people see: the groups' status and notes, the pods', the events.
    """
    said = {}
    for kind in server.kinds.values():
        for raw in kind.objects.values():
            meta = raw["metadata"]
            if kind.resource.kind in {"PodGroup", "Pod"}:
                notes = meta.get("annotations", {}) if "Group" in raw["kind"] else {}
                words = {"status": raw.get("status"), "annotations": notes}
                said[f"{raw['kind']} {meta['name']}"] = {
                    k: v for k, v in words.items() if v
                }
    events = [
        f"{raw['type']} {raw['reason']} {raw['regarding']['kind']} "
        f"{raw['regarding']['name']}: {raw['note']}"
        for raw in server.held(EVENTS)
    ]
    return {**dict(sorted(said.items())), "events": sorted(events)}


def example(case: str, folder: Path) -> dict:
    """
    Tell the first round of a case, and the one after its gang runs.
    """
    with telling(case, folder) as tells:
        told = tells.told()
        assert tells.writer.write(told)
        first = held(tells.server)
        tells.bind(told)
        tells.caught_up()
        assert tells.writer.write(tells.told())
        return {"when it starts": first, "when it runs": held(tells.server)}


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in CASES:
        with tempfile.TemporaryDirectory() as temporary:
            written = json.dumps(
                example(name, Path(temporary)), indent=1, ensure_ascii=False
            )
        (GOLDEN / f"{name}.json").write_text(f"{written}\n", encoding="utf-8")

"""
What the tests of dialects share: manifests in, claims out, answers laid on objects.

``python -m tests.helpers.kube.dialects`` writes the golden files of ``EXAMPLES`` anew.
"""

import json
from collections import Counter, defaultdict
from dataclasses import fields, replace
from pathlib import Path

import yaml

from adapters.kube.dialects.protocol import GroupStanding, Objects
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import snapshot_of
from adapters.kube.objects.pod_reader import pod_record
from models.gangs import pod_sets
from models.policy import Policy
from solver.round import decide

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "dialects"
EXAMPLES = {
    "kai": ("kai",),
    "volcano": ("volcano", "kube-batch"),
    "roc": ("roc",),
    "native": ("native",),
    "koordinator": ("koordinator",),
    "ack": ("ack", "koordinator"),
    "coscheduling": ("coscheduling",),
}
"""
The folders of scenarios that are read and answered as ever, and in which dialects.
"""


def documents(*texts):
    """
    Give the objects of some YAML texts, one by one; those of a scenario too.
    """
    documents = (yaml.load_all(text, Loader=yaml.CSafeLoader) for text in texts)
    found = [raw for several in documents for raw in several if raw]
    return [
        each
        for raw in found
        for each in (raw["given"]["manifests"] if "given" in raw else [raw])
    ]


def world(*texts):
    """
    Sort manifests: all objects but pods by group and kind, and the pods as records.
    """
    by_kind, pods = defaultdict(list), []
    for raw in documents(*texts):
        group, _, _ = raw["apiVersion"].rpartition("/")
        if raw["kind"] == "Pod":
            pods.append(pod_record(raw))
        else:
            by_kind[group, raw["kind"]].append(raw)
    return Objects(by_kind={key: tuple(raws) for key, raws in by_kind.items()}), pods


def claims(dialect, *texts):
    """
    Read the claims of some manifests, by key.
    """
    objects, pods = world(*texts)
    members = defaultdict(tuple)
    for pod in pods:
        found = dialect.membership(pod)
        if found is not None:
            members[found.gang] += (pod,)
    return {claim.key: claim for claim in dialect.claims(objects, members)}


def claim(dialect, *texts):
    """
    Read the only claim of some manifests.
    """
    (found,) = claims(dialect, *texts).values()
    return found


def difference(dialect, plain, changed):
    """
    Name what differs between the claims of two manifests, beside their source.
    """
    one, other = claim(dialect, plain), claim(dialect, changed)
    return {
        field.name
        for field in fields(one)
        if field.name not in {"source", "others"}
        and getattr(one, field.name) != getattr(other, field.name)
    }


def refusal(found):
    """
    Write why a claim is refused.
    """
    waiting = found.refused
    if waiting is None:
        return None
    return f"{waiting.reason}: {waiting.facts.get('detail', waiting.message)}"


def tree(part):
    """
    Write a part as what it says, without what it leaves out.
    """
    shown = {
        field.name: getattr(part, field.name)
        for field in fields(part)
        if getattr(part, field.name) not in (None, "", ())
    }
    if part.parts:
        shown["parts"] = [tree(child) for child in part.parts]
    if part.after:
        shown["after"] = list(part.after)
    if part.topology is not None:
        shown["topology"] = {
            field.name: getattr(part.topology, field.name)
            for field in fields(part.topology)
        }
    return shown


def shown(found):
    """
    Write a claim as plain data, without what it leaves out.
    """
    said = {
        field.name: getattr(found, field.name)
        for field in fields(found)
        if field.name not in {"source", "others", "key", "dialect"}
        and getattr(found, field.name) not in (None, "", (), {}, 0, False, "Strict")
    }
    said = {k: list(v) if isinstance(v, tuple) else v for k, v in said.items()}
    said["tree"] = tree(found.tree)
    if found.refused is not None:
        said["refused"] = refusal(found)
    if found.warnings:
        said["warnings"] = list(found.warnings)
    if found.nodes:
        said["nodes"] = [list(label) for label in found.nodes]
    if found.preemptible is False:
        said["preemptible"] = False
    return said


def queue(found):
    """
    Write a queue as plain data.
    """
    rules = {
        name: [rule.quota, rule.limit, rule.weight]
        for name, rule in found.resources.items()
    }
    return {
        "parent": found.parent,
        "priority": found.priority,
        "open": found.open,
        "resources": rules,
        "runtimes": [found.preempt_min_runtime, found.reclaim_min_runtime],
    }


def standing(state="Waiting", **said):
    """
    Say what a round decided of a gang; five pods that wait where nothing is said.
    """
    counts = dict.fromkeys(("running", "succeeded", "failed", "binding"), 0)
    base = {"key": "default/g", "minimum": 5, "total": 5, "round": "r1", "now": 0.0}
    return GroupStanding(state=state, **{**base, **counts, **said})


def after(found, writes):
    """
    Lay the patches of an answer on the object that a claim was read from.
    """
    raw = found.source
    for write in writes:
        if write.event is None and write.name == raw["metadata"]["name"]:
            raw = _merged(raw, write.patch)
    return replace(found, source=raw)


def _merged(raw, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(raw) if isinstance(raw, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


def answers(*texts):
    """
    Plan some manifests and write what each dialect says of its gangs.

    Once that is written, nothing more may be said, but that pods were bound again.
    """
    by_kind = defaultdict(list)
    for raw in documents(*texts):
        group, _, _ = raw["apiVersion"].rpartition("/")
        by_kind[group, raw["kind"]].append(raw)
    objects = Objects(by_kind={key: tuple(raws) for key, raws in by_kind.items()})
    made = snapshot_of(objects, dialects(), now=0.0)
    by_name = {dialect.name: dialect for dialect in dialects()}
    pods = Counter(
        f"{raw['metadata'].get('namespace', 'default')}/{raw['metadata']['name']}"
        for raw in objects.of("", "Pod")
    )
    said = {}
    for line in decide(made.snapshot, Policy(), strategy="greedy").gangs:
        found = made.claims[line.name]
        dialect = by_name.get(found.dialect)
        if dialect is None or found.source is None:
            continue
        decided = _standing_of(line, made.snapshot, pods)
        writes = list(dialect.answer(found, decided))
        said[line.name] = [_written(write) for write in writes]
        told = after(found, writes)
        again = [w for w in dialect.answer(told, decided) if not _is_start(w)]
        assert found.others or again == []
    return said


def _is_start(write):
    return write.event is not None and write.event[1] == "Scheduled"


def _standing_of(line, snapshot, pods):
    gang = next(gang for gang in snapshot.gangs if gang.key == line.name)
    total = sum(
        pods[f"{gang.namespace}/{pod.name}"]
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )
    waiting = line.waiting
    return GroupStanding(
        key=line.name,
        state=line.state,
        minimum=line.pods.minimum,
        total=total,
        running=line.pods.running,
        succeeded=line.pods.succeeded,
        failed=line.pods.failed,
        binding=line.pods.binding,
        reason=waiting.reason if waiting else None,
        message=waiting.message if waiting else None,
        facts=waiting.facts if waiting else {},
        round="r1",
    )


def _written(write):
    where = f"{write.plural}.{write.version}.{write.group}"
    what = f"{where}/{write.subresource}" if write.subresource else where
    said = list(write.event) if write.event else write.patch
    return {f"{'event' if write.event else 'patch'} {what} {write.name}": said}


def examples(folder):
    """
    Read and answer every scenario of a folder, in the dialects that it is about.
    """
    found = {}
    for file in sorted((ROOT / "scenarios" / folder).glob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        objects, _ = world(text)
        found[file.stem] = {"answers": answers(text)}
        for dialect in dialects():
            if dialect.name in EXAMPLES[folder]:
                found[file.stem][dialect.name] = _read(dialect, objects, text)
    return found


def _read(dialect, objects, text):
    read = {
        "claims": {key: shown(each) for key, each in claims(dialect, text).items()},
        "queues": {each.name: queue(each) for each in dialect.queues(objects, [])},
        "topologies": {t.name: list(t.levels) for t in dialect.topologies(objects, [])},
    }
    return {word: things for word, things in read.items() if things}


def golden(folder):
    """
    Give what the scenarios of a folder were read as and answered before.
    """
    return json.loads((GOLDEN / f"{folder}.json").read_text(encoding="utf-8"))


def priority_classes(**values: int) -> str:
    """
    Write priority classes as manifests, each with its value.
    """
    return "".join(
        f"""
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: {name}}}
value: {value}
"""
        for name, value in values.items()
    )


if __name__ == "__main__":
    for name in EXAMPLES:
        written = json.dumps(examples(name), indent=1, ensure_ascii=False)
        (GOLDEN / f"{name}.json").write_text(f"{written}\n", encoding="utf-8")

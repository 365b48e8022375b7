"""
Files to scenarios: read, judged whole, and either refused with everything or kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from adapters.files.bulk import MOST_FAULTS, Bulk, and_more
from adapters.files.checking.across_file import expect_faults, file_faults
from adapters.files.checking.problems import Fault, located, schema_faults
from adapters.files.checking.salvage import further_faults
from adapters.files.checking.sizes import (
    MOST_GANGS,
    MOST_NODES,
    MOST_QUEUES,
    snapshot_faults,
)
from adapters.files.convert import make_snapshot
from adapters.files.foreign import (
    OUR_KINDS,
    OpenedFile,
    assembled,
    is_foreign,
    is_manifest,
    opened,
    passed_over,
)
from adapters.files.recorded_times import record_of
from adapters.files.text import (
    looks_like_json,
    parse_documents,
    parse_text,
    read_text,
)
from adapters.machine.garbage import no_collection
from models.dialects import DialectChoice
from models.documents.queue_specs import QueueSpec
from models.documents.scenario import (
    BudgetSpec,
    GangSpec,
    Given,
    NodeSpec,
    Scenario,
    ScenarioFile,
    TopologySpec,
)
from models.errors import InputRejectedError, Problem
from models.policy import Policy

_BULK = Bulk(
    root=ScenarioFile,
    place=("given",),
    records={
        "nodes": (NodeSpec, MOST_NODES),
        "topologies": (TopologySpec, 1000),
        "queues": (QueueSpec, MOST_QUEUES),
        "gangs": (GangSpec, MOST_GANGS),
        "budgets": (BudgetSpec, MOST_GANGS),
    },
    foreign=frozenset({"manifests"}),
)
_LARGEST_SALVAGED = 8 * 2**20


@dataclass(frozen=True, slots=True)
class _FilePart:
    """
    One file that was read: its name, its text, and what it holds.
    """

    name: str
    text: str
    file: ScenarioFile

    @property
    def is_yaml(self) -> bool:
        return not looks_like_json(self.name, self.text)


@dataclass(frozen=True, slots=True)
class _Manifests:
    """
    One file of manifests: its name, and the documents in it.
    """

    name: str
    documents: Sequence[object]


def read_scenario(
    path: str,
    schedulers: Sequence[str] = (),
    choices: Sequence[DialectChoice] = (),
) -> Scenario:
    """
    Read a scenario or snapshot from a file, or from standard input for ``-``.
    """
    return read_scenarios([path], schedulers, choices)


def read_scenarios(
    paths: Sequence[str],
    schedulers: Sequence[str] = (),
    choices: Sequence[DialectChoice] = (),
) -> Scenario:
    """
    Read several files as parts of one snapshot; one of them may hold the policy.

    Parameters
    ----------
    paths
        Files of ours, or manifests and folders of them.
    schedulers
        Whose pods are planned, where pods are written as manifests.
    choices
        How the words of manifests are read.
    """
    with no_collection():
        passed: list[str] = []
        read = _read_parts(opened(paths), passed)
        parts = [part for part in read if isinstance(part, _FilePart)]
        manifests = [part for part in read if isinstance(part, _Manifests)]
        name = ", ".join(part.name for part in parts)
        if not parts:
            file = _SNAPSHOT
        else:
            file = parts[0].file if len(parts) == 1 else _merged(name, parts)
        observed = _observed(parts) if parts else None
        faults = file_faults(file, besides=bool(manifests), observed=observed)
        if faults:
            raise InputRejectedError(name, _problems(parts, faults))
        if manifests:
            name = ", ".join(part.name for part in read)
        made = _scenario(name, file, manifests, (schedulers, choices))
        if not passed:
            return made
        warnings = (passed_over(passed), *made.snapshot.warnings)
        return replace(made, snapshot=replace(made.snapshot, warnings=warnings))


_SNAPSHOT = ScenarioFile.model_validate(
    {"apiVersion": "phalanx/v1", "kind": "Snapshot", "given": {}}
)


def scenario_of(name: str, document: object) -> Scenario:
    """
    Judge a document that is already plain values, as a file would be.
    """
    part = _FilePart(name, "", _validated(name, None, document))
    faults = file_faults(part.file)
    if faults:
        raise InputRejectedError(name, located(faults, "", yaml=False))
    return _scenario(name, part.file)


def _read_parts(
    files: Sequence[OpenedFile], passed: list[str]
) -> list[_FilePart | _Manifests]:
    """
    Read every file, so that the problems of all are known before one is refused.

    Those of folders that hold nothing of ours are passed over and named.
    """
    parts: list[_FilePart | _Manifests] = []
    refused: list[InputRejectedError] = []
    for each in files:
        try:
            name, text = read_text(each.path)
            documents = parse_documents(name, text)
            if each.found and all(map(is_foreign, documents)):
                passed.append(name)
                continue
            if any(map(is_manifest, documents)):
                parts.append(_Manifests(name, documents))
                continue
            one = documents[0] if len(documents) == 1 else parse_text(name, text)
            file = _validated(name, text, one)
        except InputRejectedError as error:
            if len(files) == 1:
                raise
            refused.append(error)
            continue
        parts.append(_FilePart(name, text, file))
    if refused:
        raise InputRejectedError(
            ", ".join(error.source for error in refused),
            [p for e in refused for p in _placed(e.source, e.problems)],
        )
    if passed and not parts:
        hint = "manifests have apiVersion and kind"
        what = "nothing in the folder is read"
        raise InputRejectedError(", ".join(passed[:3]), [Problem("file", what, hint)])
    return parts


def _placed(name: str, problems: Sequence[Problem]) -> list[Problem]:
    return [replace(p, where=f"{name}: {p.where}") for p in problems]


def _validated(name: str, text: str | None, document: object) -> ScenarioFile:
    if not isinstance(document, dict):
        what = "holds nothing" if document is None else "is not a mapping of fields"
        hint = "a file begins with apiVersion and kind"
        raise InputRejectedError(name, [Problem("file", what, hint)])
    kind = document.get("kind")
    if isinstance(kind, str) and kind not in OUR_KINDS and "given" not in document:
        raise InputRejectedError(name, [_other_kind(kind)])
    faults = _BULK.faults(document)
    if faults:
        raise _rejected(name, text, faults)
    read = _BULK.read(document, faults)
    if len(faults) > MOST_FAULTS:
        raise _rejected(name, text, and_more(faults))
    file: ScenarioFile | None = None
    try:
        file = ScenarioFile.model_validate(read)
    except ValidationError as error:
        faults += schema_faults(error, document, ScenarioFile)
    if file is not None and not faults:
        return file
    if len(text or "") <= _LARGEST_SALVAGED:
        faults += further_faults(document, faults)
    raise _rejected(name, text, faults)


_ELSEWHERE = {
    "Plan": Problem(
        "file",
        "is a plan, not what it was made for",
        "`phalanx verify FILE PLAN` judges it, `phalanx plan diff A B` compares two",
    ),
    "Config": Problem(
        "file",
        "holds settings, not a round",
        "`phalanx config show FILE` prints them, `phalanx run --config FILE` uses them",
    ),
}
"""
What else of ours there is, and who reads it.
"""


def _other_kind(kind: str) -> Problem:
    hint = "use Scenario; a manifest has an apiVersion too"
    return _ELSEWHERE.get(kind) or Problem("kind", f"kind {kind!r} is not read", hint)


def _scenario(
    name: str,
    file: ScenarioFile,
    manifests: Sequence[_Manifests] = (),
    how: tuple[Sequence[str], Sequence[DialectChoice]] = ((), ()),
) -> Scenario:
    written = file.given.manifests
    if manifests or written is not None:
        snapshot = assembled(
            [(part.name, part.documents) for part in manifests]
            or [(f"{name}: given.manifests", written or [])],
            how[0] or file.given.schedulers or (),
            how[1] or file.given.dialects or (),
        ).snapshot
        snapshot = replace(
            snapshot,
            unchanged_for=file.given.unchanged_for,
            held=file.given.held,
            also_waiting=tuple(each.pair for each in file.given.also_waiting),
            run_times=record_of(file.given.run_times, file.given.run_time_levels),
        )
        faults = list(snapshot_faults(snapshot))
        if file.expect is not None:
            faults += expect_faults(file.expect, {g.key for g in snapshot.gangs})
        if faults:
            raise InputRejectedError(name, located(faults, "", yaml=False))
    else:
        snapshot = make_snapshot(file.given)
    return Scenario(
        source=name,
        kind=file.kind,
        snapshot=snapshot,
        policy=file.policy or Policy(),
        rule=file.rule,
        expect=file.expect,
    )


def _rejected(
    name: str, text: str | None, faults: Sequence[Fault]
) -> InputRejectedError:
    yaml = text is not None and not looks_like_json(name, text)
    return InputRejectedError(name, located(faults, text or "", yaml=yaml))


def _observed(parts: Sequence[_FilePart]) -> set[int]:
    """
    Give the numbers of those gangs of all parts that somebody saw.
    """
    seen = [part.file.is_observed for part in parts for _ in part.file.given.gangs]
    return {at for at, was_seen in enumerate(seen) if was_seen}


def _merged(name: str, parts: Sequence[_FilePart]) -> ScenarioFile:
    files = [part.file for part in parts]
    policies = [file.policy for file in files if file.policy is not None]
    if len(policies) > 1:
        what = f"{len(policies)} of these files hold a policy"
        raise InputRejectedError(name, [Problem("policy", what, "keep one")])
    said = [file.given.unchanged_for for file in files]
    given = Given.model_construct(
        None,
        unchanged_for=min((each for each in said if each is not None), default=None),
        held=max((file.given.held for file in files), default=0),
        also_waiting=[each for file in files for each in file.given.also_waiting],
        run_times=[each for file in files for each in file.given.run_times],
        run_time_levels=[each for file in files for each in file.given.run_time_levels],
        **{
            word: [spec for file in files for spec in getattr(file.given, word)]
            for word in _BULK.records
        },
    )
    scenarios = [file for file in files if file.expect is not None]
    return ScenarioFile.model_construct(
        api_version="phalanx/v1",
        kind="Scenario",
        given=given,
        rule=scenarios[0].rule if scenarios else None,
        policy=policies[0] if policies else None,
        expect=scenarios[0].expect if scenarios else None,
    )


def _problems(parts: Sequence[_FilePart], faults: Sequence[Fault]) -> list[Problem]:
    """
    Say in which file each fault is, with its place and line there.
    """
    if len(parts) == 1:
        return located(faults, parts[0].text, yaml=parts[0].is_yaml)
    of_part: dict[int, list[Fault]] = {}
    for path, what, hint in faults:
        at, place = _owner(parts, path)
        of_part.setdefault(at, []).append((place, what, hint))
    problems = located(of_part.pop(-1, ()), "", yaml=False)
    for at, found in sorted(of_part.items()):
        part = parts[at]
        there = located(found, part.text, yaml=part.is_yaml)
        problems += _placed(part.name, there)
    return problems


def _owner(
    parts: Sequence[_FilePart], path: tuple[str | int, ...]
) -> tuple[int, tuple[str | int, ...]]:
    """
    Find the file that a place of the merged snapshot comes from, and the place there.
    """
    if path[:1] == ("given",) and len(path) > 2 and isinstance(path[2], int):
        index = path[2]
        for at, part in enumerate(parts):
            number = len(getattr(part.file.given, str(path[1])))
            if index < number:
                return at, (*path[:2], index, *path[3:])
            index -= number
    for at, part in enumerate(parts):
        if path[:1] != ("given",) and getattr(part.file, str(path[0]), None):
            return at, path
    return -1, path

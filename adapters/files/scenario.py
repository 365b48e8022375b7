"""
Files to scenarios: read, judged whole, and either refused with everything or kept.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pydantic import ValidationError

from adapters.files.checks import file_faults
from adapters.files.convert import make_snapshot
from adapters.files.problems import Fault, located, schema_faults
from adapters.files.salvage import further_faults
from adapters.files.text import looks_like_json, parse_text, read_text
from models.errors import InputRejectedError, Problem
from models.policy import Policy
from models.scenario import Given, Scenario, ScenarioFile

_KINDS = ("Scenario", "Snapshot")


def read_scenario(path: str) -> Scenario:
    """
    Read a scenario or snapshot from a file, or from standard input for ``-``.
    """
    return read_scenarios([path])


def read_scenarios(paths: Sequence[str]) -> Scenario:
    """
    Read several files as parts of one snapshot; one of them may hold the policy.
    """
    with _no_collection():
        parts = [_read_part(path) for path in paths]
        if len(parts) == 1:
            name, text, file = parts[0]
            return _finished(name, text, file)
        name = ", ".join(name for name, _, _ in parts)
        return _finished(name, None, _merged(name, [file for _, _, file in parts]))


def scenario_of(name: str, document: object) -> Scenario:
    """
    Judge a document that is already plain values, as a file would be.
    """
    return _finished(name, None, _validated(name, None, document))


def _read_part(path: str) -> tuple[str, str, ScenarioFile]:
    name, text = read_text(path)
    document = parse_text(name, text)
    return name, text, _validated(name, text, document)


def _validated(name: str, text: str | None, document: object) -> ScenarioFile:
    if not isinstance(document, dict):
        noun = "nothing" if document is None else "not a mapping of fields"
        hint = "a file begins with apiVersion and kind"
        raise InputRejectedError(name, [Problem("file", f"holds {noun}", hint)])
    kind = document.get("kind")
    if isinstance(kind, str) and kind not in _KINDS and "given" not in document:
        what = f"kind {kind!r} is not read; Kubernetes manifests are not read yet"
        raise InputRejectedError(name, [Problem("kind", what, "use Scenario")])
    try:
        return ScenarioFile.model_validate(document)
    except ValidationError as error:
        faults = schema_faults(error, document, ScenarioFile)
        faults += further_faults(document, faults)
        raise _rejected(name, text, faults) from error
    except RecursionError as error:
        raise InputRejectedError(name, [Problem("file", "nested too deep")]) from error


def _finished(name: str, text: str | None, file: ScenarioFile) -> Scenario:
    faults = file_faults(file)
    if faults:
        raise _rejected(name, text, faults)
    return Scenario(
        source=name,
        kind=file.kind,
        snapshot=make_snapshot(file.given),
        policy=file.policy or Policy(),
        rule=file.rule,
        expect=file.expect,
    )


def _rejected(name: str, text: str | None, faults: list[Fault]) -> InputRejectedError:
    yaml = text is not None and not looks_like_json(name, text)
    return InputRejectedError(name, located(faults, text or "", yaml=yaml))


def _merged(name: str, files: list[ScenarioFile]) -> ScenarioFile:
    policies = [file.policy for file in files if file.policy is not None]
    if len(policies) > 1:
        what = f"{len(policies)} of these files hold a policy"
        raise InputRejectedError(name, [Problem("policy", what, "keep one")])
    given = Given.model_construct(
        nodes=[spec for file in files for spec in file.given.nodes],
        topologies=[spec for file in files for spec in file.given.topologies],
        queues=[spec for file in files for spec in file.given.queues],
        gangs=[spec for file in files for spec in file.given.gangs],
        budgets=[spec for file in files for spec in file.given.budgets],
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


@contextmanager
def _no_collection() -> Iterator[None]:
    """
    Pause the cycle collector: a load makes millions of objects and no garbage.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

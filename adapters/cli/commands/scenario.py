"""
``phalanx scenario``: run, lint, start and describe scenario files.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options.common import DIFFERS, STRATEGIES, Strategy, chosen
from adapters.cli.terminal.output import Format, as_text, emit, say
from models.errors import InputRejectedError
from models.why.reasons import counted

if TYPE_CHECKING:
    from models.documents.scenario import Scenario

app = typer.Typer(
    help="Run, check, begin and describe scenario files.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", help="Files or folders; scenarios/ if none."),
]
_DEFAULT = ["scenarios"]


@app.command("run")
def run(paths: Paths = None, *, strategy: Strategy = None) -> int:
    """
    Hold plans against what scenarios expect.

    Every scenario is planned with both strategies; exit 3 when one fails.
    """
    from adapters.cli.terminal.progress import Progress
    from adapters.files.folders import scenario_files

    names = [chosen(strategy)] if strategy else list(STRATEGIES)
    files = scenario_files(paths or _DEFAULT, frozenset({"Scenario"}))
    lines: list[str] = []
    rejected = failed = rounds = 0
    with Progress() as progress:
        for file in files:
            progress.say(file)
            found = _judged(file, names)
            if isinstance(found, InputRejectedError):
                rejected += 1
                lines += [f"REJECTED {file}: {problem}" for problem in found.problems]
                continue
            rounds += len(found)
            failed += sum(map(bool, found.values()))
            lines += [f"FAIL {file} [{n}] {fault}" for n in found for fault in found[n]]
    say(*lines, _summary(len(files), rounds, failed, rejected))
    if rejected:
        return 4
    return DIFFERS if failed else 0


def _judged(file: str, names: list[str]) -> dict[str, list[str]] | InputRejectedError:
    """
    Plan one file with each strategy; give what is not as expected, or why it cannot be.
    """
    from adapters.files import read_scenario

    try:
        scenario = read_scenario(file)
    except InputRejectedError as error:
        return error
    return {name: _faults(scenario, name) for name in names}


def _summary(files: int, rounds: int, failed: int, rejected: int) -> str:
    well = f"{rounds - failed:,}" if failed else "all"
    parts = [f"{well} as expected"] if rounds else []
    parts += [f"{failed:,} not as expected"] if failed else []
    parts += [f"{counted(rejected, 'file')} rejected"] if rejected else []
    head = f"{counted(files, 'scenario')}, {counted(rounds, 'round')}"
    return f"{head}: {', '.join(parts)}" if parts else head


def _faults(scenario: "Scenario", strategy: str) -> list[str]:
    from adapters.compare.expectations import differences
    from adapters.machine.clock import monotonic
    from adapters.machine.threads import ThreadLanes
    from models.errors import PlanRejectedError
    from solver import decide

    by_clock = scenario.policy.limits.seconds is not None
    try:
        plan = decide(
            scenario.snapshot,
            scenario.policy,
            strategy=strategy,
            clock=monotonic if by_clock else None,
            lanes=ThreadLanes(),
        )
    except PlanRejectedError as error:
        return [f"verify: {violation}" for violation in error.violations]
    if scenario.expect is None:
        return []
    return differences(scenario.expect, scenario.snapshot, plan)


@app.command("lint")
def lint(paths: Paths = None) -> int:
    """
    Print all problems of all files.

    Exit 4 when there is one.
    """
    from adapters.files import read_scenario
    from adapters.files.folders import scenario_files

    files = scenario_files(paths or _DEFAULT, frozenset({"Scenario", "Snapshot"}))
    problems = 0
    for file in files:
        try:
            scenario = read_scenario(file)
        except InputRejectedError as error:
            problems += len(error.problems)
            say(*(f"{file}: {problem}" for problem in error.problems))
            continue
        if scenario.kind == "Scenario" and not scenario.rule:
            problems += 1
            say(f"{file}: rule: a scenario begins with the rule it shows")
    found = counted(problems, "problem") if problems else "no problem"
    say(f"{counted(len(files), 'file')}, {found}")
    return 4 if problems else 0


@app.command("schema")
def schema() -> None:
    """
    Print the JSON schema of the files.
    """
    from models.documents.scenario import ScenarioFile

    document = ScenarioFile.model_json_schema(by_alias=True, mode="validation")
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    emit(as_text({**dialect, **document}, Format.JSON))


@app.command("new")
def new(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH", help="The file to write; standard output if none."
        ),
    ] = None,
) -> None:
    """
    Begin a scenario.

    The file holds one of everything that is often needed.
    """
    if path is None:
        emit(_TEMPLATE)
        return
    with Path(path).open("x", encoding="utf-8") as stream:
        stream.write(_TEMPLATE)
    say(f"written: {path}; now say the rule, then: phalanx scenario run {path}")


_TEMPLATE = """\
apiVersion: phalanx/v1
kind: Scenario
rule: One sentence that says what must happen.
given:
  nodes:
    - {name: node, count: 2, allocatable: {cpu: 96, memory: 768Gi, nvidia.com/gpu: 8}}
  queues:
    - {name: research, resources: {nvidia.com/gpu: {quota: 16}}}
  gangs:
    - {name: train, queue: research, min: 2, requests: {nvidia.com/gpu: 8}}
expect:
  starts: {train: 2}
"""

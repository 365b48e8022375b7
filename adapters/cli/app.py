"""
The tree of the command: what ``phalanx`` is made of, and its help.
"""

from typing import Annotated

import typer

from adapters.cli.commands import (
    config,
    describe,
    get,
    get_events,
    hold,
    plan,
    plan_diff,
    scenario,
    snapshot,
    ui,
    verify,
    version,
    what_if,
    why,
)
from adapters.cli.commands import run as run_command
from adapters.cli.commands.studies import bench, compare, replay, report, study, trace
from adapters.cli.options.common import Asked

# Rich's help and tracebacks would cost a tenth of a second on every call.
app = typer.Typer(
    name="phalanx",
    help="An optimizing gang scheduler for Kubernetes GPU clusters.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("plan")(plan.plan)
app.command("plan diff")(plan_diff.plan_diff)
app.command("what-if")(what_if.what_if)
app.command("ui")(ui.ui)
app.command("verify")(verify.verify)
app.command("why")(why.why)
app.command("run")(run_command.run)
app.add_typer(scenario.app, name="scenario")
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("replay")(replay.replay)
app.add_typer(trace.app, name="trace")
app.add_typer(study.app, name="study")
app.command("bench")(bench.bench)
get.app.command("events")(get_events.events)
app.add_typer(get.app, name="get")
app.add_typer(describe.app, name="describe")
app.command("pause")(hold.pause)
app.command("resume")(hold.resume)
app.add_typer(hold.holding, name="hold")
app.add_typer(hold.releasing, name="release")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(config.app, name="config")
app.command("version")(version.version)


def _version(asked: bool) -> None:
    if asked:
        version.version()
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    *,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show all versions."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Add the traceback to an error.")
    ] = False,
) -> None:
    """
    Plan gangs on Kubernetes GPU clusters, proven or with a bound.
    """
    del show_version
    context.obj = Asked(debug=debug)

"""
The command ``phalanx``: its tree, its help, and the one place where errors end.
"""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from adapters.cli.commands import (
    bench,
    compare,
    config,
    describe,
    get,
    plan,
    replay,
    report,
    scenario,
    snapshot,
    study,
    trace,
    verify,
    version,
)
from adapters.cli.commands import run as run_command
from adapters.cli.options.shared import Asked
from adapters.cli.terminal.output import ReaderGoneError

INTERRUPTED = 130
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
app.command("verify")(verify.verify)
app.command("run")(run_command.run)
app.add_typer(scenario.app, name="scenario")
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("replay")(replay.replay)
app.add_typer(trace.app, name="trace")
app.add_typer(study.app, name="study")
app.command("bench")(bench.bench)
app.add_typer(get.app, name="get")
app.add_typer(describe.app, name="describe")
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


def main() -> None:
    """
    Run the command and exit as documented.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal without UTF-8 shows a question mark where we write a dot.
            stream.reconfigure(errors="replace")
    called = Path(sys.argv[0]).name
    plugin = called.startswith("kubectl-")
    sys.exit(run(sys.argv[1:], called.replace("-", " ") if plugin else "phalanx"))


def run(arguments: list[str], name: str = "phalanx") -> int:
    """
    Run the command with arguments; give its exit code.

    ``name`` is how it was called, in what it says of its use.
    """
    debug = "--debug" in arguments
    words = [word for word in arguments if word != "--debug"]
    try:
        asked = ["--debug", *words] if debug else words
        code = app(asked, prog_name=name, standalone_mode=False)
    except ReaderGoneError:
        return 0
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the end of the line
        from adapters.cli.terminal import failures

        if debug:
            failures.show_traceback(error)
        return failures.report(error, next(iter(words), ""))
    if code == INTERRUPTED:
        # Whoever parses the line swallows the interrupt, and gives its code instead.
        from adapters.cli.terminal import failures

        return failures.report(KeyboardInterrupt(), next(iter(words), ""))
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    main()

"""
``phalanx config``: the policy in effect and where each value comes from.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options import RowsOutput, Seconds, Seed, Workers, only
from adapters.cli.output import Format, Table, as_text, emit

if TYPE_CHECKING:
    from adapters.cli.run_settings import ConfigFile
    from models.policy import Policy

app = typer.Typer(
    help="Show the settings in effect.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def group() -> None:
    """
    Show the settings in effect.
    """


@app.command("show")
def show(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="A file with a policy, or of settings."),
    ] = None,
    *,
    output: RowsOutput = Format.TABLE,
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
) -> None:
    """
    Print every value of the policy, and of `phalanx run`, with its origin.

    The origin is default, file, env or flag.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML, Format.CSV)
    from adapters.cli.run_settings import running
    from adapters.cli.settings import effective

    flags = {"seconds": seconds, "seed": seed, "workers": workers}
    policy, config = _read(file)
    settings = effective(policy, flags)
    scheduler = running(config, {}, flags)
    if output in {Format.JSON, Format.YAML}:
        head = {"apiVersion": "phalanx/v1", "kind": "Config"}
        values = settings.policy.model_dump(by_alias=True, mode="json")
        run = scheduler.run.model_dump(by_alias=True, mode="json")
        origins = dict(sorted(settings.origins.items()))
        origins |= {
            f"run.{name}": where for name, where in sorted(scheduler.origins.items())
        }
        body = {"policy": values, "run": run, "origins": origins}
        emit(as_text({**head, **body}, output))
        return
    rows = [*settings.rows(), *scheduler.rows()]
    table = Table(("SETTING", "VALUE", "ORIGIN"), rows)
    csv = output is Format.CSV
    emit(table.csv() if csv else "\n".join(table.lines()))


def _read(path: str | None) -> "tuple[Policy, ConfigFile | None]":
    """
    Read the policy of a file, and the settings where it is a file of those.
    """
    from adapters.cli.run_settings import is_config, read_config
    from adapters.files import read_scenario
    from models.policy import Policy

    if path is None:
        return Policy(), None
    if is_config(path):
        config = read_config(path)
        return config.policy, config
    return read_scenario(path).policy, None

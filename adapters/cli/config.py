"""
``phalanx config``: the policy in effect and where each value comes from.
"""

from typing import Annotated

import typer

from adapters.cli.options import RowsOutput, Seconds, Seed, Workers, only
from adapters.cli.output import Format, Table, as_text, emit

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
        str | None, typer.Argument(metavar="FILE", help="A file with a policy.")
    ] = None,
    *,
    output: RowsOutput = Format.TABLE,
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
) -> None:
    """
    Print every value of the policy and its origin: default, file, env or flag.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML, Format.CSV)
    from adapters.cli.settings import effective
    from adapters.files import read_scenario
    from models.policy import Policy

    policy = Policy() if file is None else read_scenario(file).policy
    flags = {"seconds": seconds, "seed": seed, "workers": workers}
    settings = effective(policy, flags)
    if output in {Format.JSON, Format.YAML}:
        head = {"apiVersion": "phalanx/v1", "kind": "Config"}
        values = settings.policy.model_dump(by_alias=True, mode="json")
        origins = dict(sorted(settings.origins.items()))
        emit(as_text({**head, "policy": values, "origins": origins}, output))
        return
    table = Table(("SETTING", "VALUE", "ORIGIN"), settings.rows())
    csv = output is Format.CSV
    emit(table.csv() if csv else "\n".join(table.lines()))

"""
``phalanx version``: what every bug report should hold.
"""

from adapters.cli.options.common import Output, only
from adapters.cli.terminal.output import Format, as_text, emit, say

_PACKAGES = ("phalanx", "ortools", "kubernetes", "pydantic", "numpy")


def version(*, output: Output = Format.TABLE) -> None:
    """
    Print the versions a bug report needs.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML)
    import platform
    from importlib import metadata

    found: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    found["python"] = platform.python_version()
    found["schema"] = "phalanx/v1"
    if output is Format.TABLE:
        for name, text in found.items():
            say(f"{name:<11} {text or 'not installed'}")
        return
    head = {"apiVersion": "phalanx/v1", "kind": "Version"}
    emit(as_text({**head, **found}, output))

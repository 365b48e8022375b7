"""
What reports need beyond the rest, and how to say that it is missing.
"""

from importlib.util import find_spec

from models.errors import PhalanxError

_NEEDED = {"altair": "altair", "vl_convert": "vl-convert-python", "jinja2": "jinja2"}


class ExtraMissingError(PhalanxError):
    """
    A page cannot be written, because what draws it is not installed.
    """

    def __init__(self, missing: list[str]) -> None:
        self.missing = missing
        verb = "is" if len(missing) == 1 else "are"
        super().__init__(
            f"HTML reports need the extra `report`: {', '.join(missing)} {verb} not "
            "installed; Markdown needs nothing"
        )

    @property
    def todo(self) -> str:
        """
        Say how to install it.
        """
        return "pip install 'phalanx[report]', or ask for --markdown"


def need_extra() -> None:
    """
    Raise a clear error where a page could not be written.
    """
    missing = [name for module, name in _NEEDED.items() if find_spec(module) is None]
    if missing:
        raise ExtraMissingError(missing)

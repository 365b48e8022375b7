"""
Words that stand for expressions of a template while YAML is written.
"""

import re
from collections.abc import Callable

_MARK = re.compile(r"TEMPLATE(\d+)END(: null)?")


class Marks:
    """
    What each mark stands for: a function of the columns that its line is indented by.
    """

    def __init__(self) -> None:
        self._known: list[Callable[[int], str]] = []

    def scalar(self, expression: str) -> str:
        """
        Mark a place for what an expression prints in one line.
        """
        return self._mark(lambda _: f"{{{{ {expression} }}}}")

    def block(self, expression: str) -> str:
        """
        Mark a place for YAML of several lines.
        """
        return self._mark(lambda by: f"{{{{- {expression} | nindent {by + 2} }}}}")

    def field(self, name: str, value: str, *, block: bool) -> str:
        """
        Mark a key for a field that is left out while its value is empty.
        """
        return self._mark(
            lambda by: (
                f"{{{{- with {value} }}}}\n{' ' * by}{name}: "
                + (f"{{{{- toYaml . | nindent {by + 2} }}}}" if block else "{{ . }}")
                + f"\n{' ' * by}{{{{- end }}}}"
            )
        )

    def fields(self, value: str) -> str:
        """
        Mark a key for all fields of a value.
        """
        return self._mark(
            lambda by: (
                f"{{{{- with {value} }}}}\n{' ' * by}{{{{- toYaml . | nindent {by} }}}}"
                f"\n{' ' * by}{{{{- end }}}}"
            )
        )

    def choice(self, value: str, this: str, that: str) -> str:
        """
        Mark a key for one field where a value says so, else another.
        """
        return self._mark(
            lambda by: (
                f"{{{{- if {value} }}}}\n{' ' * by}{this}\n{' ' * by}{{{{- else }}}}\n"
                f"{' ' * by}{that}\n{' ' * by}{{{{- end }}}}"
            )
        )

    def put(self, text: str) -> str:
        """
        Put every expression where its mark stands.
        """
        return "".join(map(self._line, text.splitlines(keepends=True)))

    def _mark(self, shown: Callable[[int], str]) -> str:
        self._known.append(shown)
        return f"TEMPLATE{len(self._known) - 1}END"

    def _line(self, line: str) -> str:
        indent = len(line) - len(line.lstrip(" -"))
        return _MARK.sub(lambda found: self._known[int(found[1])](indent), line)

"""
What the commands that write reports share: their options, and how files are written.
"""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.terminal.output import emit, note, screen_width

if TYPE_CHECKING:
    from adapters.reports.page.page import Page

STDOUT = "-"
HtmlFile = Annotated[
    str | None,
    typer.Option("--html", metavar="FILE", help="Write one self-contained page."),
]
MarkdownFile = Annotated[
    str | None,
    typer.Option(
        "--markdown", metavar="FILE", help="Write Markdown for a pull request."
    ),
]


def ready(html: str | None, markdown: str | None) -> None:
    """
    Refuse early what could not be written after all the work.
    """
    if html is not None and html == markdown:
        raise typer.BadParameter(f"only one of --html and --markdown can be {html}")
    if html is not None:
        from adapters.reports.page.extra import need_extra

        need_extra()
    for path in (html, markdown):
        if path is None or path == STDOUT:
            continue
        if Path(path).is_dir():
            raise typer.BadParameter(f"{path!r} is a folder; name a file in it")
        if not Path(path).parent.is_dir():
            raise typer.BadParameter(f"there is no folder {str(Path(path).parent)!r}")


def write(page: "Page", html: str | None, markdown: str | None) -> None:
    """
    Write a page wherever it is wanted.
    """
    if html is not None:
        from adapters.reports.page.html import as_html

        _put(as_html(page), html)
    if markdown is None:
        return
    width = screen_width()
    if markdown == STDOUT and width is not None:
        from adapters.cli.terminal.page_text import page_text

        emit(page_text(page, width))
    else:
        from adapters.reports.page.markdown import as_markdown

        _put(as_markdown(page), markdown)


def _put(text: str, path: str) -> None:
    """
    Write a file whole or not at all: a report that is open is never half a report.

    What is there and no file, such as a pipe or a device, is written to as it is.
    """
    if path == STDOUT:
        emit(text)
        return
    target = Path(path)
    data = text.encode()
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        note(f"written: {path}")
        return
    target = target.resolve()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        mask = os.umask(0)
        os.umask(mask)
        draft.chmod(0o666 & ~mask)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    note(f"written: {path}")

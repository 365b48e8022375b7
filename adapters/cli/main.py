"""
The command ``phalanx``: where it begins, and the one place where errors end.

Nothing large is imported before somebody can be told that it was interrupted.
"""

import io
import os
import sys

INTERRUPTED = 130


def main() -> None:
    """
    Run the command and exit as documented.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal without UTF-8 shows a question mark where we write a dot.
            stream.reconfigure(errors="replace")
    called = sys.argv[0].rpartition("/")[2]
    plugin = called.startswith("kubectl-")
    try:
        if "_PHALANX_COMPLETE" in os.environ and not plugin:
            from adapters.cli.terminal.completion import complete

            complete("phalanx")
        code = run(sys.argv[1:], called.replace("-", " ") if plugin else "phalanx")
    except KeyboardInterrupt:
        # So early, or so late, that nobody else could say it.
        sys.stderr.write("interrupted; nothing was written\n")
        code = INTERRUPTED
    sys.exit(code)


def run(arguments: list[str], name: str = "phalanx") -> int:
    """
    Run the command with arguments; give its exit code.

    ``name`` is how it was called, in what it says of its use.
    """
    from adapters.cli.app import app
    from adapters.cli.terminal.output import ReaderGoneError

    debug = "--debug" in arguments
    words = _with_pairs([word for word in arguments if word != "--debug"])
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


def _with_pairs(words: list[str]) -> list[str]:
    """
    Make ``plan diff`` one word: ``plan`` takes files, so it can have no commands.
    """
    return ["plan diff", *words[2:]] if words[:2] == ["plan", "diff"] else words


if __name__ == "__main__":
    main()

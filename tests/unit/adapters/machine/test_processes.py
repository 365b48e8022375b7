"""
The same work on one process, on several, and on Ray.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adapters.machine.processes import FanOutError, fan_out
from models.errors import InputRejectedError
from tests.adapters.loop.doubling import broken, double, rejecting

VALUES = [3, 1, 4, 1, 5]
DOUBLED = [(0, 6), (1, 2), (2, 8), (3, 2), (4, 10)]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_value_has_its_result(workers):
    assert DOUBLED == sorted(fan_out(double, VALUES, workers=workers))


def test_nothing_is_done_for_no_values():
    assert [] == [*fan_out(double, [])]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_fails_in_a_worker_fails_here(workers):
    with pytest.raises(ValueError, match="broken by 3"):
        [*fan_out(broken, [3, 3], workers=workers)]  # whichever ends first


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_refused_in_a_worker_says_here_why(workers):
    with pytest.raises(InputRejectedError) as caught:
        [*fan_out(rejecting, VALUES[:2], workers=workers)]

    assert "here: is wrong" == str(caught.value.problems[0])


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_command_that_began_them(tmp_path, sign):
    program = (
        "from adapters.machine.processes import fan_out\n"
        "from tests.adapters.loop.doubling import lasting\n"
        f"print([*fan_out(lasting, [{str(tmp_path)!r}] * 2, workers=2)])\n"
    )
    # A worker imports the program anew, so it is a file that begins nothing then.
    path = tmp_path / "program.py"
    path.write_text(program.replace("print", "if __name__ == '__main__': print"))
    known = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen([sys.executable, str(path)], env=known) as command:
        workers = until(lambda: [f.name for f in tmp_path.iterdir() if f.suffix == ""])
        command.send_signal(sign)

    assert workers
    assert until(lambda: not [pid for pid in workers if is_alive(int(pid))])


def until(found, seconds=30.0):
    """
    Wait until something is there; give it.
    """
    end = time.monotonic() + seconds
    while not (there := found()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return there


def is_alive(pid):
    """
    Tell whether a process is there and has not ended.
    """
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_without_ray_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(FanOutError, match=r"phalanx\[ray\]"):
        [*fan_out(double, VALUES, on="ray")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_real_ray_finds_the_same():
    pytest.importorskip("ray", reason="Ray is an extra")

    assert DOUBLED == sorted(fan_out(double, VALUES, workers=2, on="ray"))

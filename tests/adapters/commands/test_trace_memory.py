"""
Files of any length are read in the memory that a short one takes.
"""

import os
import random
import subprocess
import sys

import pytest

SHORT, LONG = 10 * 10**6, 100 * 10**6
ROOM = 1.3


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """
    Write a short file and one ten times as long, of jobs that are all different.
    """
    place = tmp_path_factory.mktemp("traces")
    found = {}
    for size in (SHORT, LONG):
        found[size] = place / f"{size}.csv"
        chance = random.Random(1)
        with found[size].open("w") as file:
            file.write("job,submit,duration,gpus,queue,cpu,memory\n")
            number = 0
            while file.tell() < size:
                for _ in range(10_000):
                    number += 1
                    file.write(
                        f"training-run-{number:09d},"
                        f"{3 * number + chance.randrange(60)},"
                        f"{chance.randrange(90_000)},{chance.choice((1, 1, 2, 4, 8))},"
                        f"team-{chance.randrange(40)},{chance.randrange(1, 64)},"
                        f"{chance.randrange(1, 512)}Gi\n"
                    )
    yield found
    for path in found.values():
        path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["check", "describe"])
def test_a_file_ten_times_as_long_takes_no_more_memory(files, verb):
    most = {size: peak(verb, path) for size, path in files.items()}
    print(f"trace {verb}: " + ", ".join(f"{m / 1024:.0f} MiB" for m in most.values()))

    assert most[LONG] <= ROOM * most[SHORT]


def peak(verb, path):
    """
    Run the command in a process of its own; give the most memory it had, in KiB.
    """
    words = [sys.executable, "-m", "adapters.cli.main", "trace", verb, str(path)]
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)

    assert 0 == process.returncode
    return used.ru_maxrss

"""
The control plane of the tests itself.
"""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.eventually import eventually
from tests.helpers.rounds.mortal import lives

pytestmark = pytest.mark.cluster
ROOT = Path(__file__).resolve().parents[2]
PARENT = """
import time
from tests.cluster.binaries import found
from tests.cluster.control_plane import ControlPlane
with ControlPlane(found()) as plane:
    print(plane.folder, *(process.pid for _, process in plane._started), flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends them")
def test_store_and_server_end_with_tests_that_are_killed(control_plane):
    tests = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    folder, *pids = tests.stdout.readline().split()
    lived = [lives(int(pid)) for pid in pids]
    tests.send_signal(signal.SIGKILL)
    tests.wait(10)
    tests.stdout.close()
    eventually(lambda: not any(lives(int(pid)) for pid in pids), 10)
    shutil.rmtree(folder, ignore_errors=True)

    assert [True, True] == lived

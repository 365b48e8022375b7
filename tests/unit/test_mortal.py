import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.eventually import eventually
from tests.helpers.rounds.mortal import lives

ROOT = Path(__file__).resolve().parents[2]
PARENT = """
import sys, time
from tests.helpers.rounds.mortal import start
child = start(["sleep", "600"], start_new_session=True)
print(child.pid, flush=True)
if sys.argv[1] == "waits":
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends them")
@pytest.mark.parametrize("ends", ["waits", "itself"])
def test_a_process_ends_with_the_one_that_started_it(ends):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, ends], stdout=subprocess.PIPE, cwd=ROOT
    )
    child = int(parent.stdout.readline())
    lived = ends == "itself" or lives(child)
    if ends == "waits":
        parent.send_signal(signal.SIGKILL)
    parent.wait(10)
    parent.stdout.close()

    assert lived
    eventually(lambda: not lives(child), 10)

"""
Measures `phalanx run --observe` against the canned server: prints one JSON object.

Run as a module in a process of its own: the server's port, the seconds of quiet.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

from adapters.observe.log import log_lines
from adapters.observe.observation import KIND, observed_in
from adapters.observe.round_file import read_rounds
from adapters.service.run_settings import running
from adapters.service.scheduler import Scheduler
from tests.adapters.kube.following import kubeconfig
from tests.adapters.kube.measure import peak


def main(port: int, quiet: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        said = {
            "kubeconfig": kubeconfig(Path(folder), f"http://127.0.0.1:{port}"),
            "observe": True,
            "leaderElect": False,
            "listen": "none",
            "folder": folder,
        }
        log_lines("text")
        scheduler = Scheduler(running(None, said, {}))
        scheduler.reporting.start()
        scheduler.source.start()
        loop = Thread(target=scheduler.loop.run, daemon=True)
        loop.start()
        path = observed_in(folder, "observe")
        while not path.exists():
            time.sleep(0.1)
        time.sleep(5)
        found = {"first_round_cpu_s": time.process_time()}
        began, cpu = time.perf_counter(), time.process_time()
        time.sleep(quiet)
        spent = time.process_time() - cpu
        found["quiet_cores"] = spent / (time.perf_counter() - began)
        found["peak_mib"] = peak()
        rounds = list(read_rounds(path, KIND))
        found["rounds"] = sum(record["rounds"] for record in rounds)
        found["gangs"] = sum(len(record["gangs"]) for record in rounds)
        found["record_mib"] = path.stat().st_size / 2**20
        scheduler.loop.stop()
        loop.join(10)
        scheduler.source.stop()
    return {name: round(value, 4) for name, value in found.items()}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), float(sys.argv[2]))))

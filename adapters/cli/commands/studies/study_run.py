"""
A study as the command runs it: its cases, a bar, its tables and what they say.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.cli.terminal.bar import Bar
from adapters.machine.clock import monotonic
from adapters.machine.folder_lock import alone_in
from adapters.machine.processes import On, cores
from adapters.study.case import Case
from adapters.study.grid import Variant, cases
from adapters.study.least_nodes import Target, enough, frontier
from adapters.study.run_cases import conduct, write_tables
from adapters.study.search import fewest
from adapters.traces.rows import TraceFile
from models.why.reasons import counted
from solver import VERSION

Results = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """
    What is varied, and how it is run.
    """

    kind: str
    base: Case
    reference: str
    target: Target | None
    variants: Sequence[Variant]
    strategies: Sequence[str]
    quotas: Sequence[str | None]
    seeds: int
    folder: Path
    workers: int
    on: On

    def played(self, words: Sequence[str]) -> dict[str, Any]:
        """
        Play all combinations on all clusters, and write what came of it.
        """
        made = self._cases(words)
        begun = monotonic()
        with alone_in(self.folder):
            results, fresh = self._results(made)
            return self._written(results, fresh, monotonic() - begun)

    def searched(self, words: Mapping[int, str]) -> dict[str, Any]:
        """
        Play the clusters that a search for the fewest nodes asks for.
        """
        begun = monotonic()
        results: Results = []
        fresh: Results = []

        def meets(count: int) -> bool:
            found, new = self._results(self._cases([words[count]]))
            results.extend(found)
            fresh.extend(new)
            rows = frontier(results, self.target, None)
            mine = [row["target"] for row in rows if row["cluster"] == words[count]]
            return all(row["met"] == row["of"] for row in mine)

        with alone_in(self.folder):
            fewest([*words], meets)
            results.sort(key=lambda result: result["nodes"])
            return self._written(results, fresh, monotonic() - begun)

    def _cases(self, words: Sequence[str]) -> list[Case]:
        return cases(
            self.base,
            clusters={word: _digest(word) for word in words},
            quotas=self.quotas,
            variants=self.variants,
            strategies=self.strategies,
            seeds=self.seeds,
        )

    def _results(self, made: Sequence[Case]) -> tuple[Results, Results]:
        """
        Give all results, and those that were played now.
        """
        reached = [0, len(made)]

        def tell(done: int, of: int) -> None:
            reached[:] = [done, of]

        before = {path.stem for path in (self.folder / "cases").glob("*.json")}
        with Bar(counted(len(made), "replay"), lambda: reached[0] / max(1, reached[1])):
            results = conduct(
                made, self.folder, workers=self.workers, on=self.on, tell=tell
            )
        return results, [r for r in results if r["key"] not in before]

    def _written(
        self, results: Results, fresh: Results, seconds: float
    ) -> dict[str, Any]:
        """
        Write the tables and what they say, and give that.
        """
        write_tables(results, self.folder)
        base = any(r["case"]["cluster"] == self.reference for r in results)
        rows = frontier(results, self.target, self.reference if base else None)
        workers = self.workers or cores()
        cpu = sum(result["took"]["cpu"] for result in fresh)
        busy = sum(result["took"]["wall"] for result in fresh)
        document = {
            "apiVersion": "phalanx/v1",
            "kind": self.kind,
            "regime": "rounds" if self.base.every else "online",
            "trace": {"name": Path(self.base.trace).name, "sha256": self.base.digest},
            "reference": rows[0]["cluster"] if not base else self.reference,
            "target": self._target(),
            "seeds": self.seeds,
            "replays": len(results),
            "frontier": rows,
            "enough": enough(rows) if self.target is not None else [],
            "notes": list(dict.fromkeys(n for r in results for n in r["notes"])),
            "versions": {"phalanx": VERSION},
            "took": {
                "replays": len(fresh),
                "wall": round(seconds, 3),
                "cpu": round(cpu, 3),
                "workers": workers,
                "busy": round(busy / (seconds * workers), 4) if fresh else None,
            },
        }
        text = json.dumps(document, indent=1, ensure_ascii=False)
        (self.folder / "study.json").write_text(f"{text}\n", encoding="utf-8")
        return document

    def _target(self) -> dict[str, Any] | None:
        aim = self.target
        if aim is None:
            return None
        metric = aim.metric
        return {
            "metric": metric.path,
            "label": metric.label,
            "unit": metric.unit,
            "sign": aim.sign,
            "value": aim.value,
        }


def _digest(word: str) -> str:
    """
    Hash a cluster that is a file; words say all there is.
    """
    return TraceFile(word).digest() if Path(word).is_file() else ""

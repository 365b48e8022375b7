"""
The performance contract, measured: rows of scenarios/perf against their ranges.
"""

from adapters.bench.report import BenchReport as BenchReport
from adapters.bench.report import Row as Row
from adapters.bench.runner import run as run

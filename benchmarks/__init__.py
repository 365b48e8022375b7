"""
The performance contract, measured: rows of scenarios/perf against their ranges.
"""

from benchmarks.rows import BenchReport as BenchReport
from benchmarks.rows import Row as Row
from benchmarks.runner import run as run

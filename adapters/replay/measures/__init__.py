"""
What a replay is measured by: use, waits, bounds and intervals.
"""

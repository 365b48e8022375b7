"""
Replays: traces played on a cluster that exists only in memory.
"""

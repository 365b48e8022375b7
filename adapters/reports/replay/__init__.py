"""
The report of a replay.
"""

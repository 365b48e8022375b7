"""
Why one gang waits: the smallest set of rules that together forbid its start.
"""

"""
What is told of rounds: the log, metrics, health, the record.
"""

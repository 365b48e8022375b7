"""
What there is, as rows: gangs, queues and nodes of a snapshot, for people and programs.
"""

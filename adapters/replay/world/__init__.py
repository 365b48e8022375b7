"""
The cluster of a replay, in memory: jobs, nodes, queues, and what a round does.
"""

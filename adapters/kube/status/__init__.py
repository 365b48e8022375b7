"""
What the cluster is told: groups, pods and events.
"""

"""
Volumes in a cluster: where pods have theirs, and where new ones can be made.
"""

"""
Everything that touches the world: files, clocks, the command, later the cluster.

An adapter reads the world into a snapshot, carries a plan out, or tells people; a
decision found here is a bug.
"""

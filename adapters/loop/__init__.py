"""
The loop: rounds, one after the other, on whatever the cluster has become.
"""

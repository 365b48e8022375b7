"""
Pods that are near each other, apart, or spread.
"""

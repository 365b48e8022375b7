"""
What must hold of a file beyond its shape, and how a fault is told.
"""

"""
Plans: pods named, operations in the order in which they must happen.
"""

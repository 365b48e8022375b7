"""
Charts as records, and how they are drawn.
"""

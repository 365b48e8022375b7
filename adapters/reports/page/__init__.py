"""
A page as records, and how it is written.
"""

"""
What a round may spend, and what it may run on.
"""

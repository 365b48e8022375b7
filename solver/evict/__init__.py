"""
Who may leave for whom, and what of it is decided before the rest of a round.
"""

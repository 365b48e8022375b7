"""
What the loop remembers from round to round.
"""

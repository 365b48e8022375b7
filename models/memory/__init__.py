"""
What is kept from round to round, and counted from what was seen.
"""

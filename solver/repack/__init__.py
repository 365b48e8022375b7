"""
Rounds of single pods, packed anew by swaps.
"""

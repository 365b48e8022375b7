"""
What a draft is worth, tier by tier, and bounds by arithmetic.
"""

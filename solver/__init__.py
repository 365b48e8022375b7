"""
Pure functions from a snapshot and a policy to a verified plan.
"""

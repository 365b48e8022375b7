"""
The search: steps, tiers, attempts, budgets.
"""

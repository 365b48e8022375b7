"""
What an empty cluster could hold, and who can never start even there.
"""

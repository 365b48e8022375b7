"""
Rules about who leaves: units, rights, bounds, and what is lost.
"""

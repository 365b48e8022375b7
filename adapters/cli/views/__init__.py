"""
What a person reads: one module for each thing shown.
"""

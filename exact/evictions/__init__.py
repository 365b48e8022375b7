"""
Steps with evictions: who may leave for whom, and all that may follow.
"""

"""
Evictions gang by gang, the least work first: greedy's answer and the first hint.
"""

"""
Studies: the same trace played under many circumstances, in parallel.
"""

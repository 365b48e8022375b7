"""
Dialects: what the objects, labels and annotations of each system mean, one module each.
"""

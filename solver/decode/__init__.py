"""
From counts of the model back to nodes and pods.
"""

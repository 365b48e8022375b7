"""
Parts of GPUs, in the words of each system, on pods and nodes.
"""

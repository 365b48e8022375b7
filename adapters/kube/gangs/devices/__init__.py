"""
Parts of GPUs in a cluster: who asks for them, who has which, and what is left.
"""

"""
Measurements against a real control plane; each is a command of its own.
"""

"""
Nodes held for gangs that were passed over for too long.
"""

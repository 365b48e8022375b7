"""
The part of the model that lets running pods leave or move.
"""

"""
Gangs of pods that know none: by whom they are owned, and the tree that makes.
"""

"""
What a round is given: nodes, pods, gangs, and who can never start.
"""

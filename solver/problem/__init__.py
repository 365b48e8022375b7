"""
What a round is given: nodes, pods, gangs, queues, shares, and who can never start.
"""

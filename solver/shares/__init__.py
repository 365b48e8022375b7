"""
What queues may take: limits, quotas, room that is kept, and fair shares.
"""

"""
Pods and claims put together to gangs, queues and one snapshot.
"""

"""
Volcano: groups, queues, tasks and answers.
"""

"""
Placing gangs one by one: a draft, what is left, and greedy.
"""

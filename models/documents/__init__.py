"""
What files say, field by field, before it becomes records.
"""

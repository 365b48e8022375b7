"""
What may leave each node together, and the bins that converted nodes form.
"""

"""
Who may leave for whom, counted as starts and exits are added.
"""

"""
A release: version and changelog in place, what is handed out built, and tried.
"""

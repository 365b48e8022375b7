"""
Patterns: what whole nodes hold, chosen together so that most has its place.
"""

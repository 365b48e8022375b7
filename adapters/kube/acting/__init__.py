"""
Plans carried out at the API server: leadership, intent, binds, evictions.
"""

"""
Plans side by side: outcomes, pairs, and what scenarios expect.
"""

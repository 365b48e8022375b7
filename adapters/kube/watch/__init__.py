"""
A cluster followed: reflectors, their stores, and one consistent view.
"""

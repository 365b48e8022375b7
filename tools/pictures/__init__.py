"""
Pictures of README and documents, made of code: each twice, for light and for dark.
"""

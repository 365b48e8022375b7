"""
Rows about pods that are near each other, apart, or spread.
"""

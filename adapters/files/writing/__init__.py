"""
Records to files: plain values in one order, and YAML that every reader reads alike.
"""

"""
The terminal: formats, tables, progress, errors.
"""

"""
The rules about devices below a whole GPU.
"""

"""
Why gangs wait.
"""

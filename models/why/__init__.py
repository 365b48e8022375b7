"""
Why gangs wait: reasons, verdicts, and what would help.
"""

"""
The bounded part of CEL that selects devices.
"""

"""
The scheduler as a service: its settings, and the parts it is made of.
"""

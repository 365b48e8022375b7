"""
Devices of bound pods: who gets which, and how that is written for each system.
"""

"""
Koordinator, ACK and scheduler-plugins, which share their words.
"""

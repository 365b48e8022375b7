"""
Commands that play, measure and report, and change no cluster.
"""

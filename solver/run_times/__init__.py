"""
For how long gangs will run: at the latest, and by when how many of their kind ended.
"""

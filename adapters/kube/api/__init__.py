"""
The API server: connections, requests, lists, watches and errors.
"""

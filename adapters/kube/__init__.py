"""
Kubernetes: objects as clusters and manifests hold them, read into our records.

Only this package may import the client library.
"""

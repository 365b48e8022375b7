"""
Objects of Kubernetes, field by field, as records.
"""

"""
The Helm chart, made of what ``deploy/`` holds for kustomize: one source for both.
"""

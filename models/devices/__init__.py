"""
GPUs and parts of them: kinds, counts, profiles, and who has which.
"""

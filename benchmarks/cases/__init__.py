"""
Random cases made from a seed: small ones, nearly full clusters, victims.
"""

"""
The Grafana dashboard, made of a table of panels: what an operator asks, and how.
"""

"""
What the repository makes of itself: the chart, releases, pictures; not in the wheel.
"""

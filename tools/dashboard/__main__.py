"""
Write the dashboard anew: ``make chart`` does, before it makes the chart.
"""

from tools.dashboard.document import PATH, text

PATH.write_text(text(), encoding="utf-8")

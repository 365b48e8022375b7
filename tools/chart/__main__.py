"""
Write the chart anew: ``make chart``.
"""

from tools.chart.files import CHART, chart


def main() -> None:
    """
    Write every made file of the chart.
    """
    for name, text in chart().items():
        path = CHART / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


main()

"""
Draw the pictures anew: ``make pictures``, or some of them by name.
"""

import sys

from tools.pictures.files import FOLDER, drawn

FOLDER.mkdir(exist_ok=True)
for name, text in drawn(sys.argv[1:]).items():
    (FOLDER / name).write_text(text, encoding="utf-8")

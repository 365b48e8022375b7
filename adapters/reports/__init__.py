"""
Reports: one page about what was compared, as HTML and as Markdown.

The page is built from records (``page``, ``charts``) that know nothing of HTML;
``html`` and ``markdown`` write it. Nothing here decides or measures anything: every
number comes from results that others made.
"""

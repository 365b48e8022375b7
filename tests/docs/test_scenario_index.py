"""
The index of the scenarios names every file.
"""

from tests.docs.scenario_index import PAGE, fresh


def test_the_index_names_every_scenario_and_what_its_folder_is_about():
    page = fresh()

    assert "TODO" not in page, "say in the table what the new folder is about"
    assert PAGE.read_text(encoding="utf-8") == page, (
        "run python -m tests.docs.rewrite and look at the difference"
    )

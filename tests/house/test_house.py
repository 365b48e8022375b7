from tests.docs.pages import REPOSITORY
from tests.house.goals import rows


def test_the_structure_gets_no_worse():
    worse = [row for row in rows() if not row.holds]

    assert [] == worse


def test_the_page_of_the_solver_names_every_room():
    folder = REPOSITORY / "solver"
    page = (folder / "README.md").read_text(encoding="utf-8")
    rooms = [door.parent.name for door in sorted(folder.glob("*/__init__.py"))]

    assert [] == [room for room in rooms if f"{room}/ " not in page.replace("`", " ")]

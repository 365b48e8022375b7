"""
What holds for all tests.
"""

import gc


def pytest_collection_finish(session):
    """
    Let the collector pass by the twenty thousand tests that stay until the end.
    """
    gc.freeze()

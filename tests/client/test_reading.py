"""What servers answer, read as our own records."""

from typing import Any

import pytest

from toolwright.client.reading import undo_of_change

PATCH = 'Index: a.py\n===\n--- a.py\t\n+++ a.py\t\n@@ -1,2 +1,2 @@\n-print("hi")\n+print("bye")\n # end\n'
OLDER = {"before": 'print("hi")\n# end\n', "after": 'print("bye")\n# end\n'}


@pytest.mark.parametrize("texts", [OLDER, {"patch": PATCH}])
def test_a_change_has_both_texts_also_where_a_server_sends_a_patch(texts: dict[str, Any]) -> None:
    change = {"file": "a.py", "additions": 1, "deletions": 1, **texts}
    undo = undo_of_change(change, "/p")
    assert undo.path == "/p/a.py"
    assert (undo.present, undo.restored) == (b'print("bye")\n# end\n', b'print("hi")\n# end\n')


def test_a_change_that_says_nothing_of_the_texts_is_still_one() -> None:
    assert undo_of_change({"file": "/b"}, "/p").path == "/b"

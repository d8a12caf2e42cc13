"""Files of this machine for a server, which cannot see them."""

import base64
import mimetypes
from pathlib import Path

from toolwright.errors import UsageError


def data_url(file: Path) -> str:
    """Return a file as a `data:` address."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    kind = mimetypes.guess_type(file.name)[0] or "text/plain"
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"

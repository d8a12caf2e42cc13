"""Attachments as the protocol has them: pictures, sounds, files and links."""

from toolwright.definition import Attachment
from toolwright.protocols.json_types import Json


def block_of(attachment: Attachment) -> Json:
    head, _, data = attachment.url.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64"):
        name = attachment.filename or attachment.url
        return {"type": "resource_link", "uri": attachment.url, "name": name, "mimeType": attachment.mime}
    kind = attachment.mime.partition("/")[0]
    if kind in ("image", "audio"):
        return {"type": kind, "data": data, "mimeType": attachment.mime}
    uri = f"attachment:///{attachment.filename or 'file'}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": attachment.mime, "blob": data}}

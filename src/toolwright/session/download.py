"""Fetching what a prompt points to on the web, once, so that a conversation never depends on an address again."""

from toolwright.errors import ToolError

MOST_BYTES = 10 * 1024 * 1024
SECONDS = 20.0


async def download(url: str) -> tuple[str, bytes]:
    """The type and the content of what an address leads to; a ToolError says why there is none."""
    import httpx2

    try:
        async with (
            httpx2.AsyncClient(follow_redirects=True, timeout=SECONDS) as client,
            client.stream("GET", url) as response,
        ):
            if response.status_code >= 400:
                raise ToolError(f"the server answered with {response.status_code}", "network")
            data = bytearray()
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > MOST_BYTES:
                    raise ToolError(f"it is larger than {MOST_BYTES // 2**20} MB", "too_large")
            mime = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return mime, bytes(data)
    except (httpx2.TransportError, httpx2.DecodingError, httpx2.TooManyRedirects, httpx2.InvalidURL) as error:
        raise ToolError(str(error) or type(error).__name__, "network") from error

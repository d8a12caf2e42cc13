"""The authorities that connections to providers trust: those of the system, or what the environment names.

The same as httpx2 trusts. To ask httpx2 for a context costs 84 ms of CPU with its import, which nothing else
needs before the first answer; this costs 21 ms.
"""

import os
import ssl
import sys

FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep them, for a Python whose own OpenSSL looks in a place that is not there."""


def trusting_context() -> ssl.SSLContext:
    """Make a context that checks certificates by the authorities of this machine."""
    if named := os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context(cafile=named)
    if folder := os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context(capath=folder)
    if sys.platform in ("win32", "darwin"):
        from httpx2 import create_ssl_context

        return create_ssl_context()  # they have a store of their own
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()
    file = next(filter(os.path.isfile, (paths.openssl_cafile, *FILES)), None)
    folder = next(filter(os.path.isdir, (paths.openssl_capath,)), None)
    if file or folder:
        context.load_verify_locations(file, folder)
    return context

"""Acts of code, on a command line or fed to an interpreter, beyond this machine: requests and mail that it sends."""

import re
from typing import Final

from toolwright.shell.outward.http import is_loopback
from toolwright.shell.outward.rows import Fit

_METHODS: Final = r"(?:post|put|patch)(?:_?form|_?json)?"
_SENDS: Final = re.compile(
    rf"\b(?:requests|httpx|axios|got|ky|superagent|session|client|http|HTTParty|Faraday|RestClient|\$ua|\$http)"
    rf"(?:\.|->){_METHODS}!?\s*\(|\bmethod['\"]?\s*(?:=>|[:=])\s*['\"](?:POST|PUT|PATCH)"
    r"|\burlopen\s*\([^)]{0,300}(?:,\s*(?:data\s*=|b['\"])|Request\([^)]{0,300},)|\bNet::HTTP\.post|\bNet::HTTP::(?:Post|Put|Patch)"
    r"|\bcurl_exec\b|\bCURLOPT_POST|\bparamiko\b",
    re.IGNORECASE,
)
_DELETES: Final = re.compile(
    r"\b(?:requests|httpx|axios|got|ky|superagent|session|client|HTTParty|Faraday|RestClient)\.delete\s*\("
    r"|\bmethod['\"]?\s*(?:=>|[:=])\s*['\"]DELETE|\bNet::HTTP::Delete",
    re.IGNORECASE,
)
_MAILS: Final = re.compile(
    r"\bsmtplib\b|\bNet::SMTP\b|\bsendmail\s*\(|\bmail\s*\(\s*['\"][^'\"]+@|\bSend-MailMessage\b"
    r"|\btell\s+application\s+\"(?:Mail|Messages|Outlook)",
    re.IGNORECASE,
)
_SENDS_SOMEWHERE: Final = re.compile(
    rf"(?:\.|->)(?:{_METHODS}|send)!?\s*\(|-Method\s+(?:Post|Put|Patch)\b", re.IGNORECASE
)
_DELETES_SOMEWHERE: Final = re.compile(r"(?:\.|->)delete\s*\(|-Method\s+Delete\b", re.IGNORECASE)
"""In code that names a host."""
_URL: Final = re.compile(r"https?://(?:[^/@\s'\"]*@)?([^/:?#\s'\"]+)[^\s'\"]*")


def of_code(code: str) -> tuple[Fit, tuple[str, ...]] | None:
    """Return what code sends and the hosts it names; None where nothing of it is known to reach any."""
    urls = list(_URL.finditer(code))
    places = tuple(dict.fromkeys(match[1] for match in urls if not is_loopback(match[0])))
    if urls and not places:
        return None
    ends = _DELETES.search(code) or _MAILS.search(code) or (_DELETES_SOMEWHERE.search(code) if places else None)
    if ends is not None:
        return Fit(kind="final", words=(ends[0],)), places
    if (match := _SENDS.search(code)) or (places and (match := _SENDS_SOMEWHERE.search(code))):
        return Fit(kind="changes", words=(match[0],)), places
    return (Fit(kind="reads"), places) if places and _ASKS.search(code) else None


_ASKS: Final = re.compile(
    r"\b(?:requests|httpx|axios|got|http|https|HTTParty|Faraday)\.(?:get|request|head)\b|\burlopen\b|\bfetch\s*\("
    r"|\bInvoke-(?:RestMethod|WebRequest)\b|\burlretrieve\b|\bNet::HTTP\b|\bfile_get_contents\b|\bLWP\b|\bHTTP::Tiny\b",
    re.IGNORECASE,
)

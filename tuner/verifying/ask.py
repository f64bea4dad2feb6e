"""A running server asked what it serves, over HTTP."""

from __future__ import annotations

import ipaddress
import json
import os
from base64 import b64encode
from http.client import HTTPException, HTTPResponse
from ssl import SSLCertVerificationError
from typing import Any, cast
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import ProxyHandler, Request, build_opener

from reports import wording
from reports.page import one_line
from store.serving.verified import Start
from tuner.engines.rules import Spoken
from tuner.errors import UsageError
from tuner.verifying.judge import nothing_said

KEY = "ATTNPIN_API_KEY"
PATIENCE_S = 15.0
MOST_BYTES = 32 << 20
NOT_FOUND, REFUSED, NOT_READY = 404, (401, 403), 500
FAULTS = (OSError, ValueError, HTTPException)  # no answer, none in time, or one that is no HTTP


def ask(url: str, spoken: Spoken, engine: str, key: str | None = None) -> Start:
    """What the server at ``url`` says; without one, or with a ``key`` (None = the environment's) that it does not take, `UsageError`."""
    base = base_of(url)
    paths = [path.partition("?")[0].strip("/") for path in spoken.INFO]
    for path, asked in zip(paths, spoken.INFO):
        try:
            info = _fetched(f"{base}{asked}", key)
        except HTTPError as error:
            if error.code == NOT_FOUND:
                continue
            return _refused(error.code, path)
        except FAULTS as error:
            raise UsageError(f"no server answers at --url {shown(url)} ({_reason(error)}); give the address that it serves on") from None
        found = spoken.start_of(info, path) if isinstance(info, dict) else None
        return found or nothing_said(path, f"what answers at {path} is no {wording.engine(engine)}: give the address of the server itself")
    return nothing_said("", f"the server offers neither {' nor '.join(paths)}: give its log with --log")


def base_of(url: str) -> str:
    """Raises `UsageError` for anything but http and https."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:  # a port that is no number, or half of an IPv6 address
        known = False
    if not known:
        raise UsageError(f"--url {shown(url)} is no address of a server; write http://HOST:PORT")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def shown(url: str) -> str:
    """Without a name and password."""
    return one_line(url.rpartition("@")[2])


def _refused(code: int, path: str) -> Start:
    if code in REFUSED:
        raise UsageError(f"the server asks for a key at {path} (HTTP {code}); set the environment variable {KEY}")
    why = "it is not ready yet: wait with --follow" if code >= NOT_READY else "give its log with --log"
    return nothing_said(path, f"the server answers {path} with HTTP {code}; {why}")


def _fetched(url: str, key: str | None) -> Any:
    with opened(request_for(url, key), PATIENCE_S) as answer:
        body = answer.read(MOST_BYTES)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def request_for(url: str, key: str | None = None) -> Request:
    """With the name and password in ``url``, else with ``key``, else with the environment's; nobody is sent those to whom it leads on."""
    parts, key = urlsplit(url), key or os.environ.get(KEY)
    own, _, place = parts.netloc.rpartition("@")
    request = Request(urlunsplit(parts._replace(netloc=place)), headers={"Accept": "application/json"})
    if own or key:
        said = f"Basic {b64encode(unquote(own).encode()).decode()}" if own else f"Bearer {key}"
        request.add_unredirected_header("Authorization", said)
    return request


def opened(request: Request, patience_s: float) -> HTTPResponse:
    """The answer. A server of this machine is asked itself, whatever proxy the environment names."""
    direct = (ProxyHandler({}),) if _is_here(urlsplit(request.full_url).hostname or "") else ()
    return cast(HTTPResponse, build_opener(*direct).open(request, timeout=patience_s))


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    said = one_line(str(reason) or type(reason).__name__)
    return f"{said}: SSL_CERT_FILE names one that is trusted" if isinstance(reason, SSLCertVerificationError) else said

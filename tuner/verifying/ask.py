"""A running server asked what it serves, over HTTP."""

from __future__ import annotations

import ipaddress
import json
import os
from http.client import HTTPResponse
from typing import Any, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from reports import wording
from store.verified import Start
from tuner.engines.rules import Spoken
from tuner.errors import UsageError
from tuner.verifying.judge import nothing_said

KEY = "ATTNPIN_API_KEY"
PATIENCE_S = 15.0
MOST_BYTES = 32 << 20
NOT_FOUND, REFUSED, NOT_READY = 404, (401, 403), 500


def ask(url: str, spoken: Spoken, engine: str) -> Start:
    """What the server at ``url`` says; without one, or with a key that it does not take, `UsageError`."""
    base = base_of(url)
    paths = [path.partition("?")[0].strip("/") for path in spoken.INFO]
    for path, asked in zip(paths, spoken.INFO):
        try:
            info = _fetched(f"{base}{asked}")
        except HTTPError as error:
            if error.code == NOT_FOUND:
                continue
            return _refused(error.code, path)
        except (URLError, OSError, ValueError) as error:
            raise UsageError(f"no server answers at --url {shown(url)} ({_reason(error)}); give the address that it serves on") from None
        found = spoken.start_of(info, path) if isinstance(info, dict) else None
        return found or nothing_said(path, f"what answers at {path} is no {wording.engine(engine)}: give the address of the server itself")
    return nothing_said("", f"the server offers neither {' nor '.join(paths)}: give its log with --log")


def base_of(url: str) -> str:
    """Raises `UsageError` for anything but http and https."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--url {shown(url)} is no address of a server; write http://HOST:PORT")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def shown(url: str) -> str:
    """Without a name and password."""
    return url.rpartition("@")[2]


def _refused(code: int, path: str) -> Start:
    if code in REFUSED:
        raise UsageError(f"the server asks for a key at {path} (HTTP {code}); set the environment variable {KEY}")
    why = "it is not ready yet: wait with --follow" if code >= NOT_READY else "give its log with --log"
    return nothing_said(path, f"the server answers {path} with HTTP {code}; {why}")


def _fetched(url: str) -> Any:
    key = os.environ.get(KEY)
    request = Request(url, headers={"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})})
    with opened(request, PATIENCE_S) as answer:
        body = answer.read(MOST_BYTES)
    try:
        return json.loads(body)
    except ValueError:
        return None


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
    return str(getattr(error, "reason", None) or error)

"""The door of the page: who comes in, and which of the things they say are heard.

viser serves all who reach its port, and keeps whatever a browser sends. Here a request needs the token that stands in
the page's address, a Host that is this machine (no foreign name can be made to point here) and, from a browser, the
page's own Origin; of what is sent then, only values that fit their controls go on.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from http import HTTPStatus
from importlib import import_module
from io import StringIO
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from ..errors import UnsupportedError
from ..quoting import in_html

TESTED = "1.1"  # viser's private parts are used below, so other versions are refused
WILDCARDS = ("", "0.0.0.0", "::")
HERE = ("localhost", "127.0.0.1", "::1")
MOST = 32  # connections at a time
MESSAGE = 2**16  # bytes; what browsers send to this page is far shorter
CLOSED = "This page opens by the address that linkwork has printed, with its token."
UNGUARDED = "the page cannot be guarded with this viser"
_starting = threading.Lock()
QUIET = logging.getLogger(f"{__name__}.requests")  # whoever sends nonsense is no error of ours
QUIET.setLevel(logging.CRITICAL)


class Door:
    """Of the page served on ``host``. ``refused`` is told the label of a control, a value that does not fit it, and
    what would."""

    def __init__(self, host: str, title: str):
        self.host, self.title = host, title
        self.path = f"/token={secrets.token_urlsafe(24)}/"
        own = (socket.gethostname(), socket.getfqdn()) if host in WILDCARDS else ()
        self.names = {name.lower() for name in (*HERE, host, *own) if name}
        self.refused: Callable[[str, Any, str], None] = lambda label, value, expected: None
        self.connections: list[Any] = []

    def open(self, port: int, label: str) -> Any:
        """A viser server behind this door."""
        viser: Any = import_module("viser")
        if viser.__version__.split(".")[:2] != TESTED.split("."):
            raise UnsupportedError(UNGUARDED, got=viser.__version__, fix=f"pip install 'viser=={TESTED}.*'")
        with _starting, self._guarding() as guarded, redirect_stdout(StringIO()):  # viser has a banner of its own
            self.server = viser.ViserServer(host=self.host, port=port, label=label, verbose=False)
            if not guarded:
                self.server.stop()
                raise UnsupportedError(UNGUARDED, got=viser.__version__, fix="pip install 'viser==1.1.1'")
        self._listen()
        return self.server

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self.host in WILDCARDS else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server.get_port()}{self.path}"

    # -- who comes in --------------------------------------------------------------------------------------------

    def refusal(self, path: str, headers: Any) -> str:
        """Why a request does not come in; empty if it does."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or not self._is_here(hosts[0]):
            return f"Host {', '.join(hosts)!r} is not this machine."
        if any(origin.partition("://")[2].lower() != hosts[0].lower() for origin in origins):
            return f"Origin {', '.join(origins)!r} is not this page."
        given = path.partition("?")[0].strip("/").encode(errors="replace")
        return "" if secrets.compare_digest(given, self.path.strip("/").encode()) else CLOSED

    def _is_here(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "") if "@" not in host else ""
            if self.host in WILDCARDS and name not in self.names:
                return bool(ipaddress.ip_address(name))  # numbers cannot be made to point elsewhere
        except ValueError:
            return False
        return name in self.names

    @contextmanager
    def _guarding(self) -> Iterator[list[bool]]:
        """viser gives no way to check handshakes: while it starts, its call of websockets' ``serve`` is caught, which
        the list tells."""
        _infra: Any = import_module("viser.infra._infra")
        websockets, guarded = _infra.websockets, []

        def serve(*where: Any, process_request: Any, **how: Any) -> Any:
            guarded.append(True)
            how |= {"process_request": self._checked(process_request), "max_size": MESSAGE, "logger": QUIET}
            return websockets.asyncio.server.serve(*where, **how)

        caught: Any = SimpleNamespace(
            asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)),
            exceptions=websockets.exceptions,
            datastructures=websockets.datastructures,
        )
        _infra.websockets = caught
        try:
            yield guarded
        finally:
            _infra.websockets = websockets

    def _checked(self, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def check(connection: Any, request: Any) -> Any:
            why = self.refusal(request.path, request.headers)
            if why:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
            if "Accept-Encoding" in request.headers:  # the page is packed already, and its title must be set
                del request.headers["Accept-Encoding"]
            try:
                response = answer(connection, replace(request, path="/"))
            except LookupError as error:
                return connection.respond(HTTPStatus.BAD_REQUEST, f"A header is there more than once: {error}.\n")
            if response is None:  # a WebSocket
                return self._full(connection)
            title = f"<title>{in_html(self.title)}</title>".encode()
            response.body = response.body.replace(b"<title>Viser</title>", title)
            del response.headers["Content-Length"]
            response.headers["Content-Length"] = str(len(response.body))
            response.headers["Cache-Control"] = "no-store"
            response.headers["Referrer-Policy"] = "no-referrer"
            return response

        return check

    def _full(self, connection: Any) -> Any:
        """The refusal of one connection too many. Each takes some 0.4 MB until it is closed."""
        self.connections = [each for each in self.connections if each.state.name != "CLOSED"]
        if len(self.connections) >= MOST:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST} browsers show this page: close one.\n")
        self.connections.append(connection)
        return None

    # -- what is heard -------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Of all messages for the whole page, only fitting values of its controls go on: not other properties of them,
        nor uploads, nor the wish to share the page with the world. (A client's camera is its own.)"""
        inner, handles = self.server._websock_server, self.server.gui._gui_input_handle_from_uuid
        hear = inner._handle_incoming_message

        async def check(client: Any, message: Any) -> None:
            if type(message).__name__ != "GuiUpdateMessage" or not isinstance(message.uuid, str):
                return
            handle = handles.get(message.uuid)
            if handle is None:
                return
            if not isinstance(message.updates, dict) or list(message.updates) != ["value"]:
                return
            value = message.updates["value"]
            if expected := wanted(handle, value):
                inner.queue_message(type(message)(message.uuid, {"value": handle.value}))  # put back where it was
                self.refused(handle.label, value, expected)
            else:
                await hear(client, message)

        inner._handle_incoming_message = check


def wanted(handle: Any, value: Any) -> str:
    """What the control takes instead of this value; empty if it takes it."""
    viser: Any = import_module("viser")
    if isinstance(handle, viser.GuiVector3Handle):
        bounds = list(zip(handle.min, handle.max, strict=True))
        right = isinstance(value, (list, tuple)) and len(value) == 3
        fits = right and all(_between(x, *each) for x, each in zip(value, bounds, strict=True))
        words = f"three numbers from {bounds[0][0]:g} to {bounds[0][1]:g}"
    elif isinstance(handle, (viser.GuiSliderHandle, viser.GuiNumberHandle)):
        fits, words = _between(value, handle.min, handle.max), f"a number from {handle.min:g} to {handle.max:g}"
    elif isinstance(handle, viser.GuiDropdownHandle):
        fits, words = isinstance(value, str) and value in handle.options, "one of its options"
    else:
        fits, words = type(handle.value) is bool and isinstance(value, bool), "on or off"
    return "" if fits else words


def _between(value: Any, lower: float, upper: float) -> bool:
    """Is it a number in there, give or take what a browser's rounding does?"""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return False
    return lower - 1e-9 * abs(lower) <= value <= upper + 1e-9 * abs(upper)

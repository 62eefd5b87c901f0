"""Access control of the page: which requests are served, and which messages of a browser are processed.

viser serves everybody who reaches its port, and stores whatever a browser sends. Here a request needs the token of the
page's address and a Host header that names this machine, so that no foreign domain name can point here. A request of a
browser also needs the page's own Origin. Of the messages of a browser only valid values of controls are processed.
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
from .dragging import is_pull

TESTED = "1.1"  # the code below uses private parts of viser, so other versions are refused
WILDCARDS = ("", "0.0.0.0", "::")
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
MOST_CONNECTIONS = 32  # at a time; each takes some 0.4 MB until it is closed
MESSAGE = 2**16  # bytes; messages of the page's controls are far shorter
NO_TOKEN = "Open this page by the full address that linkwork printed; it contains an access token."
UNGUARDED = "this version of viser cannot be served safely"
_starting = threading.Lock()
QUIET = logging.getLogger(f"{__name__}.requests")  # malformed requests of others are no errors of this program
QUIET.setLevel(logging.CRITICAL)


class AccessGuard:
    """Checks requests and messages of the page served on ``host``.

    ``on_refusal`` is called with the label of a control, a value that it does not accept, and the values it accepts.
    """

    def __init__(self, host: str, title: str):
        self.host, self.title = host, title
        self.path = f"/token={secrets.token_urlsafe(24)}/"
        machine = (socket.gethostname(), socket.getfqdn()) if host in WILDCARDS else ()
        self.names = {name.lower() for name in (*LOCAL_NAMES, host, *machine) if name}
        self.on_refusal: Callable[[str, Any, str], None] = lambda label, value, expected: None
        self.connections: list[Any] = []

    def start_server(self, port: int, label: str) -> Any:
        """Start a viser server whose requests and messages this guard checks."""
        viser: Any = import_module("viser")
        if viser.__version__.split(".")[:2] != TESTED.split("."):
            raise UnsupportedError(UNGUARDED, got=viser.__version__, fix=f"pip install 'viser=={TESTED}.*'")
        with _starting, self._guarding() as guarded, redirect_stdout(StringIO()):  # viser would print a banner
            self.server = viser.ViserServer(host=self.host, port=port, label=label, verbose=False)
            if not guarded:
                self.server.stop()
                raise UnsupportedError(UNGUARDED, got=viser.__version__, fix="pip install 'viser==1.1.1'")
        self._filter_messages()
        return self.server

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self.host in WILDCARDS else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server.get_port()}{self.path}"

    # -- requests ------------------------------------------------------------------------------------------------

    def refusal(self, path: str, headers: Any) -> str:
        """Return why a request is refused; empty if it is served."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or not self._is_this_machine(hosts[0]):
            return f"Host {', '.join(hosts)!r} is not this machine."
        if any(origin.partition("://")[2].lower() != hosts[0].lower() for origin in origins):
            return f"Origin {', '.join(origins)!r} is not this page."
        token = path.partition("?")[0].strip("/").encode(errors="replace")
        return "" if secrets.compare_digest(token, self.path.strip("/").encode()) else NO_TOKEN

    def _is_this_machine(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "") if "@" not in host else ""
            if self.host in WILDCARDS and name not in self.names:
                return bool(ipaddress.ip_address(name))  # unlike a name, an IP address cannot be redirected here
        except ValueError:
            return False
        return name in self.names

    @contextmanager
    def _guarding(self) -> Iterator[list[bool]]:
        """Replace websockets' ``serve`` while viser starts, as viser has no option to check handshakes.

        The list stays empty if viser did not call it.
        """
        _infra: Any = import_module("viser.infra._infra")
        websockets, guarded = _infra.websockets, []

        def serve(*address: Any, process_request: Any, **options: Any) -> Any:
            guarded.append(True)
            options |= {"process_request": self._checked(process_request), "max_size": MESSAGE, "logger": QUIET}
            return websockets.asyncio.server.serve(*address, **options)

        replacement: Any = SimpleNamespace(
            asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)),
            exceptions=websockets.exceptions,
            datastructures=websockets.datastructures,
        )
        _infra.websockets = replacement
        try:
            yield guarded
        finally:
            _infra.websockets = websockets

    def _checked(self, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def check(connection: Any, request: Any) -> Any:
            if reason := self.refusal(request.path, request.headers):
                return connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
            if "Accept-Encoding" in request.headers:  # an uncompressed page, as its title is replaced below
                del request.headers["Accept-Encoding"]
            try:
                response = answer(connection, replace(request, path="/"))
            except LookupError as error:
                return connection.respond(HTTPStatus.BAD_REQUEST, f"A header occurs more than once: {error}.\n")
            if response is None:  # a WebSocket
                return self._refuse_if_full(connection)
            title = f"<title>{in_html(self.title)}</title>".encode()
            response.body = response.body.replace(b"<title>Viser</title>", title)
            del response.headers["Content-Length"]
            response.headers["Content-Length"] = str(len(response.body))
            response.headers["Cache-Control"] = "no-store"
            response.headers["Referrer-Policy"] = "no-referrer"
            return response

        return check

    def _refuse_if_full(self, connection: Any) -> Any:
        self.connections = [each for each in self.connections if each.state.name != "CLOSED"]
        if len(self.connections) >= MOST_CONNECTIONS:
            message = f"{MOST_CONNECTIONS} browsers already show this page: close one.\n"
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, message)
        self.connections.append(connection)
        return None

    # -- messages ------------------------------------------------------------------------------------------------

    def _filter_messages(self) -> None:
        """Process only valid values of controls and pulls of the ball, of all messages that concern the whole page.

        Other properties of controls, uploads and requests to share the page publicly are ignored. The camera of a
        browser concerns that browser alone and is not checked here.
        """
        inner, handles = self.server._websock_server, self.server.gui._gui_input_handle_from_uuid
        process = inner._handle_incoming_message

        async def check(client: Any, message: Any) -> None:
            if type(message).__name__ == "SceneNodeDragMessage" and is_pull(message):
                await process(client, message)
            if type(message).__name__ != "GuiUpdateMessage" or not isinstance(message.uuid, str):
                return
            handle, updates = handles.get(message.uuid), message.updates
            if handle is None or not isinstance(updates, dict) or list(updates) != ["value"]:
                return
            if expected := expected_instead(handle, updates["value"]):
                inner.queue_message(type(message)(message.uuid, {"value": handle.value}))  # reset the control
                self.on_refusal(handle.label, updates["value"], expected)
            else:
                await process(client, message)

        inner._handle_incoming_message = check


def expected_instead(handle: Any, value: Any) -> str:
    """Return which values a control accepts if it does not accept ``value``; empty if it does."""
    viser: Any = import_module("viser")
    if isinstance(handle, viser.GuiVector3Handle):
        bounds = list(zip(handle.min, handle.max, strict=True))
        is_vector = isinstance(value, (list, tuple)) and len(value) == 3
        fits = is_vector and all(_between(x, *each) for x, each in zip(value, bounds, strict=True))
        expected = f"three numbers from {bounds[0][0]:g} to {bounds[0][1]:g}"
    elif isinstance(handle, (viser.GuiSliderHandle, viser.GuiNumberHandle)):
        fits, expected = _between(value, handle.min, handle.max), f"a number from {handle.min:g} to {handle.max:g}"
    elif isinstance(handle, viser.GuiDropdownHandle):
        fits, expected = isinstance(value, str) and value in handle.options, "one of its options"
    else:
        fits, expected = type(handle.value) is bool and isinstance(value, bool), "on or off"
    return "" if fits else expected


def _between(value: Any, lower: float, upper: float) -> bool:
    """Return whether a value is a number within the bounds, up to a browser's rounding."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return False
    return lower - 1e-9 * abs(lower) <= value <= upper + 1e-9 * abs(upper)

"""Who may open the page, and what they may send: raw requests, as a foreign page or a program would make them."""

import http.client
import math
import socket
import time
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from urllib.parse import urlsplit

import numpy as np
import pytest

import linkwork
from linkwork.view import access, show
from linkwork.view.access import AccessGuard
from linkwork.view.dragging import BALL

viser = pytest.importorskip("viser")
msgpack = pytest.importorskip("msgspec.msgpack")
client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")

CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [1, 1, 1], "fov": 1.0, "near": 0.1, "far": 10.0,
    "image_height": 10, "image_width": 10, "look_at": [0, 0, 0], "up_direction": [0, 0, 1],
}  # fmt: skip


@pytest.fixture(scope="module")
def page():
    page = show(linkwork.load("planar2r"), port=0)
    yield page
    page.stop()


def get(page, path=None, **headers):
    at = urlsplit(page.url)
    with closing(http.client.HTTPConnection(at.hostname, at.port, timeout=10)) as connection:
        connection.request("GET", at.path if path is None else path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read().decode()


@contextmanager
def connected(page, path=None, **options):
    at = urlsplit(page.url)
    address = f"ws://{at.netloc}{at.path if path is None else path}"
    options = {"origin": f"http://{at.netloc}", "subprotocols": [f"viser-v{viser.__version__}"], **options}
    with client.connect(address, compression=None, max_size=None, **options) as socket:
        socket.send(msgpack.encode(CAMERA))
        yield socket


def send(socket, handle, **updates):
    socket.send(msgpack.encode({"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": updates}))


def until(condition, seconds=10.0):
    end = time.perf_counter() + seconds
    while not condition():
        assert time.perf_counter() < end, "it did not come about"
        time.sleep(0.01)


# -- coming in -----------------------------------------------------------------------------------------------------


def test_the_address_opens_the_page(page):
    status, text = get(page)
    assert status == 200 and "<title>planar2r - linkwork</title>" in text and "Viser</title>" not in text
    assert len(urlsplit(page.url).path) > 20


@pytest.mark.parametrize("path", ["/", "/index.html", "/token=/", "/token=wrong/", "/?token=wrong"])
def test_without_its_token_it_stays_closed(page, path):
    status, text = get(page, path)
    assert status == 403 and "the full address that linkwork printed" in text
    with pytest.raises(exceptions.InvalidStatus, match="403"), connected(page, path):
        pass


@pytest.mark.parametrize("name", ["Origin", "Host"])
@pytest.mark.parametrize(
    "value", ["http://[::1", "http://[", "http://]", "[::1", "http://a:b:c", "", "http://\xff", "null"]
)
def test_headers_that_are_no_addresses(page, name, value, capfd):
    status, text = get(page, **{name: value})
    assert status == 403 and text.startswith(name) and capfd.readouterr().err == ""


def answer(page, request):
    """The status line that raw bytes are answered with."""
    at = urlsplit(page.url)
    text = request.replace("PATH", at.path).replace("HERE", at.netloc).replace("\n", "\r\n")
    with socket.create_connection((at.hostname, at.port), timeout=10) as connection:
        connection.sendall(text.encode("latin-1"))
        return connection.recv(100).partition(b"\r\n")[0].decode()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("GET /\xff HTTP/1.1\nHost: HERE\n\n", "403"),
        ("GET PATH HTTP/1.1\nHost: HERE\nHost: HERE\n\n", "403"),
        ("GET PATH HTTP/1.1\nHost: HERE\nUpgrade: websocket\nUpgrade: websocket\n\n", "400"),
        ("GET PATH HTTP/1.1\nHost: HERE\nConnection: Upgrade\nUpgrade: websocket\n\n", "400"),
        ("GET PATH HTTP/1.1\nHost: HERE\nOrigin: \0\n\n", ""),
        ("POST PATH HTTP/1.1\nHost: HERE\n\n", ""),
        ("\x16\x03\x01\n\n", ""),
        ("GET /" + "a" * 20_000 + " HTTP/1.1\nHost: HERE\n\n", ""),
    ],
)
def test_nonsense_is_refused_without_a_word_here(page, request_, status, capfd):
    assert status in answer(page, request_) and "500" not in answer(page, request_)
    assert get(page)[0] == 200 and capfd.readouterr().err == ""


def test_connections_are_bounded(page, monkeypatch):
    """Each takes memory while it is open, and gives its place to another when it is closed."""
    monkeypatch.setattr(access, "MOST_CONNECTIONS", 3)
    until(lambda: not page.server.get_clients())
    for _ in range(3):
        with ExitStack() as stack:
            for _ in range(3):
                until(lambda: opened(page, stack))
            with pytest.raises(exceptions.InvalidStatus, match="503"), connected(page):
                pass
            assert get(page)[0] == 200


def opened(page, stack):
    """Whether there was a place: the server may take a moment to see that another has left."""
    try:
        return stack.enter_context(connected(page))
    except exceptions.InvalidStatus:
        return None


def test_each_page_has_a_token_of_its_own(page):
    other = show(linkwork.load("planar2r"), port=0)
    try:
        assert urlsplit(other.url).path != urlsplit(page.url).path
        assert get(other, urlsplit(page.url).path)[0] == 403
    finally:
        other.stop()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "", "[", "a@b"]
)
def test_names_that_are_made_to_point_here_are_refused(page, host):
    port = urlsplit(page.url).port
    status, text = get(page, Host=host.format(port=port))
    assert status == 403 and "Host" in text


@pytest.mark.parametrize("host", ["localhost:{port}", "LOCALHOST", "127.0.0.1:9", "[::1]:{port}"])
def test_names_of_this_machine_are_taken(page, host):
    """Through a tunnel it has another port."""
    assert get(page, Host=host.format(port=urlsplit(page.url).port))[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "null", "http://localhost.evil.example"]
)
def test_other_origins_are_refused(page, origin):
    with pytest.raises(exceptions.InvalidStatus, match="403"), connected(page, origin=origin):
        pass
    assert get(page, Origin=origin)[0] == 403


def test_two_hosts_are_refused(page):
    at = urlsplit(page.url)
    with closing(http.client.HTTPConnection(at.hostname, at.port, timeout=10)) as connection:
        connection.putrequest("GET", at.path, skip_host=True)
        connection.putheader("Host", at.netloc)
        connection.putheader("Host", "evil.example")
        connection.endheaders()
        assert connection.getresponse().status == 403


def test_addresses_of_a_page_for_other_machines():
    page = show(linkwork.load("planar2r"), host="0.0.0.0", port=0)
    try:
        port = urlsplit(page.url).port
        assert urlsplit(page.url).hostname == "127.0.0.1"  # what a browser here can open
        assert get(page, Host=f"192.0.2.7:{port}")[0] == 200
        assert get(page, Host=f"evil.example:{port}")[0] == 403
    finally:
        page.stop()


def test_a_viser_that_cannot_be_guarded_is_refused(monkeypatch):
    monkeypatch.setattr(viser, "__version__", "2.0.0")
    with pytest.raises(linkwork.UnsupportedError, match=r"2\.0\.0(.|\n)*pip install"):
        show(linkwork.load("planar2r"), port=0)


# -- what is sent --------------------------------------------------------------------------------------------------

NONSENSE = [
    [],
    [1],
    [1e30, 1e30, 1e30],
    [0, 0, math.nan],
    [0, 0, math.inf],
    "abc",
    None,
    {},
    [[0, 0, 0]],
    ["0", 0, 0],
    7,
]


def test_good_values_arrive(page):
    with connected(page) as socket:
        send(socket, page.controls.gravity, value=[0, 0, -1.5])
        until(lambda: tuple(page.state.gravity) == (0.0, 0.0, -1.5))
        send(socket, page.controls.sliders[0], value=1)
        until(lambda: page.state.q[0] == 1.0)
        send(socket, page.controls.home, value=True)
        until(lambda: page.state.q[0] == 0.0)
        send(socket, page.controls.gravity, value=[0, -9.81, 0])
        until(lambda: tuple(page.state.gravity) == (0.0, -9.81, 0.0))


def test_values_that_do_not_fit_are_put_back(page, capfd):
    c = page.controls
    values = page.server.gui._gui_input_handle_from_uuid
    before = {key: handle.value for key, handle in values.items()}
    with connected(page) as one, connected(page) as other:
        for value in NONSENSE:
            send(one, c.gravity, value=value)
        for value in (1e9, math.nan, True, "1", None, []):
            send(one, c.sliders[0], value=value)
            send(one, c.duration, value=value)
        for handle, value in ((c.has_gravity, 1), (c.method, "rena"), (c.method, 3), (c.frame, None), (c.home, [])):
            send(one, handle, value=value)
        send(one, c.gravity, update_cb=[])  # would take the callback away
        send(one, c.gravity, value=[0, 0, 0], removed=True)
        one.send(msgpack.encode({"type": "GuiUpdateMessage", "uuid": [], "updates": {"value": 1}}))
        one.send(msgpack.encode({"type": "ShareUrlRequest"}))  # would open a tunnel to the world
        send(one, c.speed, value=2.0)  # all before it has been read
        until(lambda: page.player.speed == 2.0)
        after = {key: handle.value for key, handle in values.items()}
        assert after == before | {c.speed._impl.uuid: 2.0}
        np.testing.assert_array_equal(page.state.gravity, [0, -9.81, 0])
        send(other, c.sliders[0], value=0.25)
        until(lambda: page.state.q[0] == 0.25)
        send(other, c.speed, value=1.0)
        until(lambda: page.player.speed == 1.0)
    assert "Traceback" not in capfd.readouterr().err


def pull(socket, phase, start, way=(0.0, 0.0, 0.0), **changes):
    """Send what a browser sends when the ball is pulled."""
    message = {
        "type": "SceneNodeDragMessage", "phase": phase, "name": BALL, "instance_index": None, "owner": "",
        "start_position": list(start), "start_screen_pos": [0.5, 0.5], "end_position": [*np.add(start, way).tolist()],
        "end_screen_pos": [0.5, 0.5], "button": "left", "modifier": None,
    }  # fmt: skip
    socket.send(msgpack.encode(message | changes))


def test_pulls_arrive(page):
    tip, ball = page.drawing.tip, page.drawing.ball
    page.state.move([0.4, 1.0])
    begin = tip.pose[:3, 3].tolist()
    with connected(page) as one, connected(page) as other:
        pull(one, "update", begin, (0.1, 0.0, 0.0))  # without a start
        pull(one, "start", begin)
        pull(one, "update", begin, (-0.3, 0.1, 0.0))
        until(lambda: np.allclose(tip.pose[:3, 3], np.add(begin, (-0.3, 0.1, 0.0)), atol=1e-3))
        for phase in ("start", "update", "end"):
            pull(other, phase, begin, (0.2, -0.2, 0.0))  # ignored: one pulls already
        pull(one, "update", begin, (-0.4, 0.2, 0.0))
        until(lambda: np.allclose(tip.pose[:3, 3], np.add(begin, (-0.4, 0.2, 0.0)), atol=1e-3))
        until(lambda: not ball.due)  # it rests with the pointer; the page shows it a little later
        until(lambda: np.allclose(page.controls.position.value, tip.pose[:3, 3], atol=1e-3))
        assert ball.pulled
        pull(one, "end", begin, (-0.2, 0.0, 0.0))
        until(lambda: not ball.pulled and np.allclose(tip.pose[:3, 3], np.add(begin, (-0.2, 0.0, 0.0)), atol=1e-3))
        pull(other, "start", begin)
        until(lambda: ball.pulled)
    until(lambda: not ball.pulled)  # it was closed


@pytest.mark.parametrize(
    "changes",
    [
        *({"start_position": [0.0, 0.0, x]} for x in (math.nan, math.inf, 1e30, "x", None, [0.0])),
        *({"end_position": x} for x in ([], [0.0, 0.0], [0.0] * 4, "abc", None, 7, {})),
        *({"name": x} for x in ("/world", "/world/robot/1", f"{BALL}/axes", "", [], None)),
        *({"phase": x} for x in ("begin", [], None)),
        *({"button": x} for x in ("right", [], None)),
        *({"modifier": x} for x in ("alt", "shift+alt", [], 1)),
        *({"owner": x} for x in ("1", [], None)),
    ],
)
def test_pulls_that_do_not_fit_are_ignored(page, changes, capfd):
    """Or they end the connection that they came by, as noise does."""
    ball, before = page.drawing.ball, page.state.q
    with connected(page) as one, connected(page) as other:
        with suppress(exceptions.ConnectionClosed):
            pull(one, **{"phase": "start", "start": [1.0, 1.0, 0.0], **changes})
            send(one, page.controls.speed, value=3.0)  # all before it has been read
        until(lambda: page.player.speed == 3.0 or one.close_code is not None)
        assert not ball.pulled
        for value in (2.0, 1.0):
            send(other, page.controls.speed, value=value)
            until(lambda value=value: page.player.speed == value)
    np.testing.assert_array_equal(page.state.q, before)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x80", msgpack.encode({"type": "Nothing"}), "text"])
def test_noise_ends_only_the_connection_it_came_by(page, data):
    with connected(page) as other:
        with pytest.raises(exceptions.ConnectionClosed), connected(page) as one:
            one.send(data)
            while True:
                one.recv(timeout=10)
        send(other, page.controls.sliders[1], value=0.5)
        until(lambda: page.state.q[1] == 0.5)
        send(other, page.controls.sliders[1], value=0.0)
        until(lambda: page.state.q[1] == 0.0)


def test_a_viser_without_access_checks_is_stopped(monkeypatch):
    """As one would whose server is started in another way."""
    monkeypatch.setattr(AccessGuard, "_guarding", lambda self: nullcontext([]))
    with pytest.raises(linkwork.UnsupportedError, match=r"cannot be served safely(.|\n)*pip install"):
        show(linkwork.load("planar2r"), port=0)

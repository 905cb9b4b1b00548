"""The server of ``mercer explore`` attacked through raw sockets; it answers afterwards."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import struct
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from mercer import KernelPCA, load
from mercer.exceptions import DataError
from mercer.live.server import MOST_ITEMS, MOST_PAGES, MOST_UPLOADS, open_server
from mercer.live.worker import MOST_FITS, Pool

LARGEST = 1 << 20


class Client:
    """A server in a thread, and requests to it as bytes."""

    def __init__(self, served):
        self.served = served
        self.port = served.socket.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self.token = served.url.rpartition("=")[2]

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def target(self, path):
        return f"{path}{'&' if '?' in path else '?'}token={self.token}"

    def head(self, path, method="GET", **headers):
        lines = {"Host": self.host, **{k.replace("_", "-"): v for k, v in headers.items()}}
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        return f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode()

    def ask(self, path, method="GET", body=b"", **headers):
        """Status, headers and body of the answer."""
        length = {"Content-Length": len(body)} if method == "POST" else {}
        with self.connect() as link:
            link.sendall(self.head(path, method, Connection="close", **length, **headers) + body)
            return read_answer(link)

    def post(self, path, body):
        status, _, answer = self.ask(self.target(path), "POST", body, Origin=f"http://{self.host}")
        return status, json.loads(answer)

    def alive(self):
        return self.ask(self.target("/"))[0] == 200


def read_answer(link):
    data = b""
    try:
        while part := link.recv(1 << 16):
            data += part
    except ConnectionResetError:
        pass  # the server closed while we were still sending
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), head.decode("latin-1").lower(), body


class Socket:
    """A WebSocket by hand."""

    def __init__(self, client, path=None, **headers):
        self.link = client.connect()
        key = base64.b64encode(os.urandom(16)).decode()
        given = {"Origin": f"http://{client.host}", **headers}
        head = client.head(
            client.target("/fits") if path is None else path,
            Upgrade="websocket",
            Connection="Upgrade",
            Sec_WebSocket_Key=key,
            Sec_WebSocket_Version="13",
            **given,
        )
        self.link.sendall(head)
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            part = self.link.recv(4096)
            if not part:
                break
            self.data += part
        first, _, self.data = self.data.partition(b"\r\n\r\n")
        self.status = int(first.split(b" ", 2)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.link.close()

    def frame(self, text, announced=None):
        payload = text.encode()
        size = len(payload) if announced is None else announced
        if size < 126:
            head = struct.pack("!BB", 0x81, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, size)
        return head + b"\0\0\0\0" + payload  # a mask of zeros

    def send(self, message):
        text = message if isinstance(message, str) else json.dumps(message)
        self.link.sendall(self.frame(text))

    def take(self, size):
        while len(self.data) < size:
            part = self.link.recv(1 << 16)
            if not part:
                raise EOFError
            self.data += part
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def receive(self):
        """The next text as JSON, or the code with which the server closes."""
        while True:
            first, size = self.take(2)
            if size == 126:
                size = struct.unpack("!H", self.take(2))[0]
            payload = self.take(size)
            if first & 15 == 8:
                return struct.unpack("!H", payload[:2])[0]
            if first & 15 == 1:
                return json.loads(payload)

    def answer(self, number):
        """The last word on one request."""
        while True:
            message = self.receive()
            if message["id"] == number and "stage" not in message:
                return message


@pytest.fixture(scope="module")
def client():
    with open_server(largest=LARGEST) as served:
        thread = threading.Thread(target=served.run)
        thread.start()
        client = Client(served)
        while not served.server.started:
            time.sleep(0.02)
        yield client
        served.server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture
def rows(client):
    """The id of an upload: 120 rows, two classes, and the rows."""
    X = np.random.default_rng(0).standard_normal((120, 3))
    lines = [
        ",".join(f"{v!r}" for v in row.tolist()) + f",{'ab'[i % 2]}" for i, row in enumerate(X)
    ]
    text = "\n".join(["one,two,three,kind", *lines])
    status, made = client.post("/data?name=rows.csv", text.encode())
    assert status == 200
    return made["id"], X


def test_page_and_its_policy(client):
    status, head, body = client.ask(client.target("/"))
    assert status == 200
    policy = re.search("content-security-policy: (.*)\r", head)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert b"<style" not in body
    assert b" style=" not in body
    assert not re.search(rb"<script(?![^>]*src=)", body), "no script in the page itself"
    for path in ("/live.js", "/live.css", "/start"):
        assert client.ask(client.target(path))[0] == 200


WRONG = {
    "no token": ({}, "/", 403),
    "wrong token": ({}, "/?token=wrong", 403),
    "foreign host": ({"Host": "evil.example"}, None, 400),
    "rebound name": ({"Host": "evil.example:{port}"}, None, 400),
    "other port": ({"Host": "127.0.0.1:1"}, None, 400),
    "no host": ({"Host": None}, None, 400),
    "an address that is not ours": ({"Host": "192.0.2.7:{port}"}, None, 400),
    "foreign origin": ({"Origin": "http://evil.example"}, None, 403),
    "null origin": ({"Origin": "null"}, None, 403),
    "same name by https": ({"Origin": "https://127.0.0.1:{port}"}, None, 403),
    "cross-site": ({"Sec-Fetch-Site": "cross-site"}, None, 403),
    "same-site": ({"Sec-Fetch-Site": "same-site"}, None, 403),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_strangers_stay_outside(client, kind, case):
    headers, path, status = WRONG[case]
    headers = {k: v and v.format(port=client.port) for k, v in headers.items()}
    if kind == "http":
        path = client.target("/start") if path is None else path
        assert client.ask(path, **headers)[0] == status
    else:
        path = None if path is None else path.replace("/", "/fits")
        with Socket(client, path, **headers) as refused:
            assert refused.status in (400, 403)
    assert client.alive()


def test_a_websocket_says_where_it_comes_from(client):
    with Socket(client, Origin=None) as refused:
        assert refused.status == 403


def test_two_hosts_are_none(client):
    with client.connect() as link:
        head = client.head(client.target("/start"), Connection="close")
        link.sendall(head.replace(b"\r\n\r\n", b"\r\nHost: evil.example\r\n\r\n"))
        assert read_answer(link)[0] == 400


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/page/../../../etc/passwd",
        "/page/..%2f..%2f..%2fetc%2fpasswd",
        "/model/%2e%2e",
        "/model/..%5c..%5cwindows",
        "/model/%5c%5cserver%5cshare",
        "/page/file:///etc/passwd",
        "/page/" + "0" * 32,
        "/live.js/../pyproject.toml",
    ],
)
def test_no_path_leads_out(client, path):
    status, _, body = client.ask(client.target(path))
    assert status in (400, 404)
    assert b"root:" not in body
    assert client.alive()


@pytest.mark.parametrize("name", ["../../x.csv", "\\\\server\\x.csv", "/tmp/x.csv", "<b>&.csv"])
def test_names_of_uploads_are_no_paths(client, name):
    from urllib.parse import quote

    status, made = client.post(f"/data?name={quote(name)}", b"1,2\n3,4\n")
    assert status == 200
    item = client.served.studio.store.get(made["id"])
    assert made["name"] == name, "shown as it is"
    assert item.path.parent.parent == client.served.studio.store.root
    assert item.path.name == "file.csv"
    assert oct(item.folder.stat().st_mode & 0o777) == "0o700"


def test_unknown_endings(client):
    status, answer = client.post("/data?name=x.pkl", b"")
    assert status == 400
    assert ".csv" in answer["problem"]


def test_two_gigabytes_are_refused_at_once(client):
    """By the announced length: nothing of it is read."""
    started = time.perf_counter()
    with client.connect() as link:
        head = client.head(client.target("/data?name=x.csv"), "POST", Content_Length=2 << 30)
        link.sendall(head)
        assert read_answer(link)[0] == 413
    assert time.perf_counter() - started < 20
    assert client.alive()


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_endless_body(client, method):
    with client.connect() as link:
        head = client.head(client.target("/data?name=x.csv"), method, Transfer_Encoding="chunked")
        link.sendall(head)
        chunk = b"10000\r\n" + b"7" * 0x10000 + b"\r\n"
        sent = 0
        try:
            while sent < 200 * LARGEST:
                link.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
        else:
            pytest.fail("200 MB were taken where 1 MB is allowed")
        assert sent < 50 * LARGEST
    assert client.alive()
    names = [path for path in client.served.studio.store.root.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in names) < 10 * LARGEST, "what had come is removed"


def test_a_body_that_is_just_too_large(client):
    """An honest client, that reads the answer, is told why."""
    with client.connect() as link:
        head = client.head(client.target("/data?name=x.csv"), "POST", Transfer_Encoding="chunked")
        link.sendall(head)
        for _ in range(17):
            link.sendall(b"10000\r\n" + b"7" * 0x10000 + b"\r\n")
        status, _, body = read_answer(link)
    assert status == 413
    assert b"too large" in body


def test_huge_frame(client):
    """A frame that announces a gigabyte is refused before it comes; so is one of 100 kB."""
    for size, payload in ((1 << 30, ""), (100_000, "x" * 100_000)):
        with Socket(client) as page:
            page.link.sendall(page.frame(payload, size))
            assert page.receive() == 1009
    assert client.alive()


def test_endless_message_of_small_frames(client):
    with Socket(client) as page:
        part = struct.pack("!BBH", 0x00, 0x80 | 126, 4096) + b"\0\0\0\0" + b"x" * 4096
        page.link.sendall(struct.pack("!BB", 0x01, 0x81) + b"\0\0\0\0x")
        try:
            for _ in range(64):
                page.link.sendall(part)
        except OSError:
            return
        assert page.receive() == 1009


@pytest.mark.parametrize(
    "message",
    [
        "no json",
        "[1, 2]",
        '{"id": 1e999}',
        '{"id": NaN}',
        '{"id": 1}',
        '{"id": 1, "fit": {"data": "../../etc/passwd"}}',
        '{"id": 1, "fit": {"data": "ID\\n"}}',
        '{"id": 1, "fit": {"path": "/etc/passwd"}}',
        '{"id": 1, "open": "http://evil.example/m.mercer"}',
        '{"id": 1, "open": ["x"]}',
        '{"id": 1, "fit": {"data": "ID", "components": 1000000}}',
        '{"id": 1, "fit": {"data": "ID", "components": 0.5}}',
        '{"id": 1, "fit": {"data": "ID", "components": true}}',
        '{"id": 1, "fit": {"data": "ID", "kernel": {"name": "gaussian", "length": 1e999}}}',
        '{"id": 1, "fit": {"data": "ID", "kernel": {"name": "gaussian", "length": "x"}}}',
        '{"id": 1, "fit": {"data": "ID", "kernel": {"name": "function"}}}',
        '{"id": 1, "fit": {"data": "ID", "model": "__import__"}}',
        '{"id": 1, "fit": {"data": "ID", "label": 3}}',
        '{"id": ' + "9" * 5000 + "}",
        "[" * 30_000,
    ],
)
def test_wrong_messages_are_answered(client, rows, message):
    with Socket(client) as page:
        page.send(message.replace("ID", rows[0]))
        answer = page.receive()
        assert answer["problem"].strip()
        page.send({"id": 7, "cancel": True})
        assert page.answer(7)["cancelled"], "the same socket still answers"


def test_bytes_instead_of_text(client):
    with Socket(client) as page:
        page.link.sendall(struct.pack("!BB", 0x82, 0x81) + b"\0\0\0\0x")
        assert page.receive() >= 1000, "closed"
    assert client.alive()


def test_fit_save_and_equal_scores(client, rows, tmp_path):
    key, X = rows
    with Socket(client) as page:
        page.send({"id": 1, "fit": {"data": key, "components": 4, "label": "kind"}})
        made = page.answer(1)["made"]
    status, _, body = client.ask(client.target(f"/model/{made}"))
    assert status == 200
    (tmp_path / "m.mercer").write_bytes(body)
    model = load(tmp_path / "m.mercer")
    assert list(model.feature_names_in_) == ["one", "two", "three"]
    reference = KernelPCA(4, random_state=0).fit(X)
    found = model.subspace_.scores(X)
    assert np.allclose(np.abs(found), np.abs(reference.transform(X)), atol=1e-10)
    _, _, page_of = client.ask(client.target(f"/page/{made}"))
    size = struct.unpack("<I", page_of[:4])[0]
    facts = json.loads(page_of[4 : 4 + size])
    assert facts["classes"] == ["a", "b"]
    assert facts["title"] == "rows.csv"


def test_ten_thousand_slider_messages(client, rows, monkeypatch):
    """One in flight, the latest waits: the last is answered, few are computed."""
    pool, running = client.served.studio.pool, []

    async def run(job, say):
        async def spied(words):
            running.append(pool.running)
            await say(words)

        running.append(0)
        return await Pool.run(pool, job, spied)

    monkeypatch.setattr(pool, "run", run)
    with Socket(client) as page:
        for i in range(10_000):
            kernel = {"name": "gaussian", "medians": 0.5 + i / 10_000}
            page.send({"id": i, "fit": {"data": rows[0], "components": 3, "kernel": kernel}})
        assert page.answer(9_999)["made"]
    assert max(running) <= MOST_FITS
    assert running.count(0) < 500
    assert client.alive()


def test_cancel_ends_the_process(client):
    X = np.random.default_rng(0).standard_normal((3000, 8)).astype(np.float32)
    import io

    file = io.BytesIO()
    np.save(file, X)
    _, made = client.post("/data?name=x.npy", file.getvalue())
    pool = client.served.studio.pool
    with Socket(client) as page:
        page.send({"id": 1, "fit": {"data": made["id"], "model": "robust", "components": 500}})
        end = time.monotonic() + 60
        while not pool.running:
            assert time.monotonic() < end
            time.sleep(0.01)
        page.send({"id": 2, "cancel": True})
        assert page.answer(2)["cancelled"]
        assert pool.running == 0
        page.send({"id": 3, "fit": {"data": made["id"], "components": 2}})
        page.send({"id": 4, "cancel": True})
        assert page.answer(4)["cancelled"]


def test_a_page_that_leaves_stops_its_fit(client, rows):
    pool = client.served.studio.pool
    with Socket(client) as page:
        page.send({"id": 1, "fit": {"data": rows[0]}})
    end = time.monotonic() + 60
    while pool.running or client.served.server.server_state.connections:
        assert time.monotonic() < end
        time.sleep(0.02)


def is_closed(link):
    """Wait for the server to hang up, whatever it says before."""
    try:
        while link.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


@pytest.fixture
def hurried(monkeypatch):
    """A server of little patience; connections wait longer than it does."""
    monkeypatch.setattr("mercer.live.guard.PATIENCE", 1.0)
    with open_server(largest=64 << 20) as served:
        thread = threading.Thread(target=served.run)
        thread.start()
        while not served.server.started:
            time.sleep(0.02)
        yield Client(served)
        served.server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_a_request_that_does_not_come_is_not_waited_for(hurried, said):
    with hurried.connect() as link:
        link.sendall(said)
        assert is_closed(link)
    assert hurried.alive()


def test_a_request_that_comes_byte_by_byte_is_not_waited_for(hurried):
    """Each byte began the time anew."""

    def drip(link):
        for _ in range(600):
            link.sendall(b"x")
            time.sleep(0.1)

    with hurried.connect() as link, pytest.raises(ConnectionError):
        drip(link)
    assert hurried.alive()


def test_a_second_request_that_stops_half_way_is_not_waited_for(hurried):
    with hurried.connect() as link:
        link.sendall(hurried.head(hurried.target("/start")))
        assert link.recv(1 << 16).startswith(b"HTTP/1.1 200")
        link.sendall(b"GET /")
        assert is_closed(link)


def test_a_slow_body_is_answered_with_408(hurried):
    head = hurried.head(
        hurried.target("/data?name=x.csv"),
        "POST",
        Content_Length=1 << 20,
        Origin=f"http://{hurried.host}",
    )
    with hurried.connect() as link:
        link.sendall(head + b"1,2\n")
        status, _, text = read_answer(link)
    assert status == 408
    assert b"load it again" in text
    assert not hurried.served.studio.store._items
    assert hurried.alive()


def test_strangers_who_say_nothing_do_not_keep_the_owner_out(client):
    """Connections are open to everybody; a limit on them would be a way to close the server."""
    with ExitStack() as links:
        for _ in range(100):
            links.enter_context(client.connect())
        assert client.alive()


def test_pages_are_limited(client):
    end = time.monotonic() + 60
    with ExitStack() as pages:
        for _ in range(MOST_PAGES):
            while pages.enter_context(Socket(client)).status != 101:  # those of other tests go
                assert time.monotonic() < end
        assert pages.enter_context(Socket(client)).status == 403
        assert client.alive()
    while pages.enter_context(Socket(client)).status != 101:
        assert time.monotonic() < end, "a page that has gone makes room"
    pages.close()


def test_uploads_are_limited(client):
    end = time.monotonic() + 60
    head = client.head(client.target("/data?name=x.csv"), "POST", Content_Length=1000)
    with ExitStack() as links:
        for _ in range(MOST_UPLOADS):
            links.enter_context(client.connect()).sendall(head + b"1,2")
        while (answer := client.post("/data?name=x.csv", b"1,2"))[0] == 200:
            assert time.monotonic() < end
        assert answer[0] == 400
        assert "wait" in answer[1]["problem"]
        assert client.alive()
    while client.post("/data?name=x.csv", b"1,2")[0] != 200:
        assert time.monotonic() < end, "an upload that has ended makes room"


def test_an_answer_that_nobody_reads_is_not_kept(hurried):
    """The system's buffers are filled, and then the server's own."""
    item = hurried.served.studio.store.add("x", "model.mercer")
    (item.folder / "model.mercer").write_bytes(bytes(64 << 20))
    connections = hurried.served.server.server_state.connections
    with hurried.connect() as link:
        link.sendall(hurried.head(hurried.target(f"/model/{item.id}")))
        assert link.recv(1).startswith(b"H")
        end = time.monotonic() + 60
        while connections:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_who_is_patient_is_served(hurried):
    """A page that waits longer than the limit between two messages, and an answer after it."""
    _, made = hurried.post("/data?name=x.csv", b"a,b\n1,2\n3,5\n4,4\n")
    with Socket(hurried) as page:
        time.sleep(2.5)
        page.send({"id": 1, "cancel": True})
        assert page.answer(1)["cancelled"]
    assert made["id"]


def test_an_upload_that_others_push_out_says_so(client):
    """It ended in 500."""
    body = b"1,2\n3,4\n"
    head = client.head(
        client.target("/data?name=slow.csv"),
        "POST",
        Content_Length=len(body),
        Connection="close",
        Origin=f"http://{client.host}",
    )
    store = client.served.studio.store
    with client.connect() as link:
        link.sendall(head + body[:4])
        end = time.monotonic() + 60
        while not any(item.name == "slow.csv" for item in store._items.values()):
            assert time.monotonic() < end
            time.sleep(0.01)
        made = [client.post("/data?name=x.csv", b"1,2")[1]["id"] for _ in range(MOST_ITEMS)]
        link.sendall(body[4:])
        status, _, answer = read_answer(link)
    assert status == 400
    assert "load it again" in json.loads(answer)["problem"]
    client.post("/data?name=x.csv", b"1,2")
    status, _, answer = client.ask(client.target(f"/model/{made[0]}"))
    assert status == 400
    assert "load it again" in json.loads(answer)["problem"]


def test_the_file_of_the_command_line_is_never_pushed_out(tmp_path):
    (tmp_path / "own.csv").write_text("1,2")
    with open_server(tmp_path / "own.csv") as served:
        store = served.studio.store
        made = [store.new("x.csv").id for _ in range(2 * MOST_ITEMS)]
        assert store.get(served.studio.start).path == tmp_path / "own.csv"
        assert len(list(store.root.iterdir())) == MOST_ITEMS
        assert store.get(made[-1])


def test_uploads_vanish_with_the_server(tmp_path):
    with open_server() as served:
        item = served.studio.store.new("x.csv")
        item.path.write_text("1,2")
        root = served.studio.store.root
        assert oct(root.stat().st_mode & 0o777) == "0o700"
    assert not root.exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_a_wide_bind_needs_a_token(host):
    with pytest.raises(DataError, match="token"), open_server(host=host):
        pass


def test_short_tokens_are_refused():
    with pytest.raises(DataError, match="16"), open_server(token="short"):
        pass

"""The door of the server: one guard for HTTP and WebSocket, before anything is read.

A page of another site can send requests to this machine, and a name of another site can be made to
point at it (DNS rebinding). So a request must name this server as its host, come from its own page,
and know the token; and what it sends is counted while it comes, and not waited for any longer than
it may take.
"""

import asyncio
import ipaddress
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src blob: data:; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
#: Sent with every answer.
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
#: Seconds for the first lines of a request, for a reader to take what is sent, and for a body to
#: begin; it has more for every ``SLOWEST`` bytes that have come.
PATIENCE, SLOWEST = 30.0, 1 << 14
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Rules:
    """What a request must satisfy."""

    port: int
    token: str
    largest: int  #: most bytes of a body
    #: Bound to more than loopback: any address of this machine may be its host, but no name.
    wide: bool = False

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name, _, port = host.rpartition(":")
        bare = name.removeprefix("[").removesuffix("]")
        known = name in _LOOPBACK or (self.wide and address_of(bare) is not None)
        return known and port == str(self.port)


def refusal(scope: Scope, rules: Rules) -> tuple[int, str] | None:
    """Status and reason, if a request must not pass; a pure function of its first lines."""
    headers: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.lower(), []).append(value.decode("latin-1"))
    hosts = headers.get(b"host", [])
    if len(hosts) != 1 or not rules.knows(hosts[0]):
        return 400, "this server has another name; open the address that it printed."
    origins = headers.get(b"origin", [])
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        return 403, "only the server's own page may ask."
    if scope["type"] == "websocket" and not origins:
        return 403, "a WebSocket must say where it comes from."
    if not {*headers.get(b"sec-fetch-site", [])} <= {"same-origin", "none"}:
        return 403, "only the server's own page may ask."
    token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[-1]
    if not compare_digest(token.encode(), rules.token.encode()):
        return 403, "the token is missing or wrong; open the address that mercer explore printed."
    if scope["type"] == "websocket":
        return None
    # A body that is announced as too large, or where none belongs.
    largest = rules.largest if scope["method"] == "POST" else 0
    lengths = headers.get(b"content-length", [])
    if any(not length.isdigit() or int(length) > largest for length in lengths):
        return 413, f"the body is too large; at most {largest >> 20} MB are taken."
    if not largest and b"transfer-encoding" in headers:
        return 413, "this request takes no body."
    return None


class Guard:
    """An ASGI application behind :func:`refusal`, with counted bodies and strict headers."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app, self.rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = refusal(scope, self.rules)
        if scope["type"] == "http":
            receive, send = self._counted(receive), _dressed(send)
        if refused is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before accept: 403
        else:
            # The connection is closed, so that nobody waits for the rest of a body.
            answer = PlainTextResponse(refused[1], refused[0], {"connection": "close"})
            await answer(scope, receive, send)

    def _counted(self, receive: Receive) -> Receive:
        """A body ends where it becomes too large, or comes too slowly."""
        began, seen, more = asyncio.get_running_loop().time(), 0, True

        async def counted() -> Message:
            nonlocal seen, more
            # After the body, only the end of the connection is awaited.
            end = began + PATIENCE + seen / SLOWEST if more else None
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                text = f"the file arrived too slowly, {seen:,} bytes so far; load it again."
                raise HTTPException(408, text, {"connection": "close"}) from None
            more = message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > self.rules.largest:
                text = f"the body is too large; at most {self.rules.largest >> 20} MB are taken."
                raise HTTPException(413, text, {"connection": "close"})
            return message

        return counted


class Timed(H11Protocol):
    """HTTP that waits neither for a request nor for a reader for ever.

    uvicorn closes a connection that is idle after an answer; before the first one it waits, and
    every byte begins the time anew.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self.loop.call_later(PATIENCE, self._end_unless_after, None)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        answered = self.cycle
        super().on_response_complete()  # which may begin the next one
        self.loop.call_later(PATIENCE, self._end_unless_after, answered)

    def _end_unless_after(self, last: Any) -> None:
        """Unless another request has come, or the connection is a WebSocket's by now."""
        if self.cycle is last and self.transport.get_protocol() is self:
            self.transport.abort()

    def pause_writing(self) -> None:
        """Wait for the reader."""
        super().pause_writing()
        self._unread = self.loop.call_later(PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """The reader has taken enough."""
        super().resume_writing()
        self._unread.cancel()


def _dressed(send: Send) -> Send:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return dressed


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address, unless the host is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None

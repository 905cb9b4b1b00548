"""The door of the server: one guard for HTTP and WebSocket, before anything is read.

A page of another site can send requests to this machine, and a name of another site can be made to
point at it (DNS rebinding). So a request must name this server as its host, come from its own page,
and know the token; and nobody is waited for any longer than it may take.
"""

import asyncio
import ipaddress
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, BinaryIO

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from uvicorn.protocols.http.h11_impl import H11Protocol

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src blob: data:; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
#: Sent with every answer.
HEADERS = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
]
#: Seconds for the first lines of a request, for a reader to take what is sent, and for a body to
#: begin; it has more for every ``SLOWEST`` bytes that have come.
PATIENCE, SLOWEST = 30.0, 1 << 14
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Guard:
    """An ASGI application that only requests reach that :meth:`refusal` lets pass."""

    app: ASGIApp
    port: int
    token: str
    #: Bound to more than loopback: any address of this machine may be its host, but no name.
    wide: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        if (refused := self.refusal(HTTPConnection(scope))) is not None:
            status, reason = refused
            # The connection is closed, so that nobody waits for the rest of a body.
            app = PlainTextResponse(reason, status, {"connection": "close"})
            if scope["type"] == "websocket":
                app = WebSocketClose(1008)  # before it is accepted: 403
        await app(scope, receive, send)

    def refusal(self, request: HTTPConnection) -> tuple[int, str] | None:
        """Status and reason, if a request must not pass, as its first lines say."""
        said = request.headers.getlist
        if len(hosts := said("host")) != 1 or not self._is_host(hosts[0]):
            return 400, "this server has another name; open the address that it printed."
        strange = {*said("origin")} - {f"http://{hosts[0]}"}
        if strange or {*said("sec-fetch-site")} - {"same-origin", "none"}:
            return 403, "only the server's own page may ask."
        if request.scope["type"] == "websocket" and not said("origin"):
            return 403, "a WebSocket must say where it comes from."
        if not compare_digest(request.query_params.get("token", "").encode(), self.token.encode()):
            return 403, "the token is wrong or missing; open the address that was printed."
        is_upload = (request.scope.get("method"), request.scope["path"]) == ("POST", "/data")
        if not is_upload and ({*said("content-length")} - {"0"} or said("transfer-encoding")):
            return 413, "this request takes no body."
        return None

    def _is_host(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name, _, port = host.rpartition(":")
        bare = name.removeprefix("[").removesuffix("]")
        known = name in _LOOPBACK or (self.wide and address_of(bare) is not None)
        return known and port == str(self.port)


async def save_body(request: Request, file: BinaryIO, largest: int) -> None:
    """Write a body to a file; it ends where it becomes too large, or comes too slowly."""
    close = {"connection": "close"}  # so that nobody waits for the rest of it
    text = f"the body is too large; at most {largest >> 20} MB are taken."
    too_large = HTTPException(413, text, close)
    if int(request.headers.get("content-length", 0)) > largest:
        raise too_large
    began, seen = asyncio.get_running_loop().time(), 0
    try:
        async with asyncio.timeout(PATIENCE) as waiting:
            async for part in request.stream():
                seen += len(part)
                if seen > largest:
                    raise too_large
                waiting.reschedule(began + PATIENCE + seen / SLOWEST)
                file.write(part)
    except TimeoutError:
        text = f"the file arrived too slowly, {seen:,} bytes so far; load it again."
        raise HTTPException(408, text, close) from None


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


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address, unless the host is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None

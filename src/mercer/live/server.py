"""``mercer explore``: the live page with Python behind it, on this machine.

Routes take ids and never a path or an address. Fits go through the WebSocket; files and models,
which may be large, through HTTP.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from mercer._base.files import temporary_folder
from mercer.exceptions import DataError, MercerError
from mercer.io import atomic_file
from mercer.live.guard import Guard, Rules, Timed
from mercer.live.page import bundle, source
from mercer.live.store import Item, Store
from mercer.live.wanted import Wanted, is_id, read_message
from mercer.live.worker import MODEL, PAGE, Desk, Job, Pool

#: Bytes of an upload.
LARGEST_UPLOAD = 256 << 20
#: Bytes of a message: a request of the page has some hundred.
LARGEST_FRAME = 1 << 16
#: Pages, and uploads at the same time.
MOST_PAGES = 16
MOST_UPLOADS = 4
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")


class Studio:
    """The application: what is stored, who computes, and the routes.

    Parameters
    ----------
    store : Store
    token : str
    start : id of what the page begins with, optional
    """

    def __init__(self, store: Store, token: str, start: str | None = None) -> None:
        self.store, self.token, self.start = store, token, start
        self.pool = Pool()
        self.pages = self.uploads = 0

    def app(self) -> Starlette:
        """The routes; to be put behind a :class:`~mercer.live.guard.Guard`."""
        return Starlette(
            routes=[
                Route("/", self._page),
                Route("/live.js", self._code),
                Route("/live.css", self._style),
                Route("/start", self._start),
                Route("/data", self._upload, methods=["POST"]),
                Route("/page/{id}", self._result),
                Route("/model/{id}", self._model),
                WebSocketRoute("/fits", self._socket),
            ],
            exception_handlers={DataError: _problem},
        )

    async def _page(self, _request: Request) -> Response:
        page = source("explore.html").replace("$token", self.token)
        return Response(page, media_type="text/html")

    async def _code(self, _request: Request) -> Response:
        code = f"{bundle('explore')}\n$explore.start();\n"
        return Response(code, media_type="text/javascript")

    async def _style(self, _request: Request) -> Response:
        return Response(source("live.css"), media_type="text/css")

    async def _start(self, _request: Request) -> Response:
        """What the command line named: rows to fit, or a model."""
        if self.start is None:
            return JSONResponse(None)
        return JSONResponse(_facts(self.store.get(self.start)))

    async def _upload(self, request: Request) -> Response:
        """The body is the file; its name is shown, and its ending read."""
        if self.uploads >= MOST_UPLOADS:
            raise DataError(f"{MOST_UPLOADS} files are on their way; wait for one of them.")
        item = self.store.new(request.query_params.get("name", ""))
        self.uploads += 1
        try:
            with atomic_file(item.path) as file:
                async for part in request.stream():
                    file.write(part)
        except FileNotFoundError:
            raise DataError("so many others came meanwhile; load it again.") from None
        except BaseException:
            self.store.drop(item.id)
            raise
        finally:
            self.uploads -= 1
        return JSONResponse(_facts(item))

    async def _result(self, request: Request) -> Response:
        return self._file(request, PAGE)

    async def _model(self, request: Request) -> Response:
        return self._file(request, MODEL)

    def _file(self, request: Request, name: str) -> Response:
        key = request.path_params["id"]
        path = self.store.get(key).folder / name if is_id(key) else None
        if path is None or not path.exists():
            raise DataError("there is no such model; fit one.")
        return FileResponse(path, media_type="application/octet-stream")

    async def _socket(self, socket: WebSocket) -> None:
        """One page: its fits, one in flight, the latest of those that wait."""
        if self.pages >= MOST_PAGES:
            await socket.close(1013)
            return
        await socket.accept()
        self.pages += 1
        self.pool.warm()
        desk = Desk(lambda request: self._answer(socket, *request))
        try:
            while True:
                await self._hear(desk, socket, await socket.receive_text())
        except WebSocketDisconnect:
            pass
        except KeyError:  # bytes where text belongs
            await socket.close(1003)
        finally:
            self.pages -= 1
            await desk.cancel()

    async def _hear(self, desk: Desk, socket: WebSocket, text: str) -> None:
        number = None
        try:
            message = read_message(text)
            number = message["id"]
            if "cancel" in message:
                await desk.cancel()
                await socket.send_json({"id": number, "cancelled": True})
            elif "open" in message:
                desk.ask((number, str(message["open"]), None))
            else:
                wanted = Wanted.read(message.get("fit"))
                desk.ask((number, wanted.data, wanted))
        except MercerError as error:
            await socket.send_json({"id": number, "problem": str(error)})

    async def _answer(
        self, socket: WebSocket, number: int, key: str, wanted: Wanted | None
    ) -> None:
        """Do one request, and say how it went."""
        progress = Desk(socket.send_json)

        def tell(stage: str, done: int, total: int) -> None:
            progress.ask({"id": number, "stage": stage, "done": done, "total": total})

        made = None
        try:
            item = self.store.get(key)
            made = self.store.result(item.name)
            await self.pool.run(Job(item.path, item.name, made.folder, wanted), tell)
            answer = {"id": number, "made": made.id, "name": item.name}
        except MercerError as error:
            answer = {"id": number, "problem": str(error)}
        except BaseException:
            if made is not None:
                self.store.drop(made.id)
            raise
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the page has gone
            await socket.send_json(answer)


@dataclass(frozen=True)
class Served:
    """A server that listens, and is about to run.

    Attributes
    ----------
    server : uvicorn.Server
    socket : the socket that it listens on
    studio : Studio
    url : str
        With the token: whoever has it may use the server.
    """

    server: uvicorn.Server
    socket: socket.socket
    studio: Studio
    url: str

    def run(self) -> None:
        """Serve until stopped."""
        self.server.run(sockets=[self.socket])

    def stop(self) -> None:
        """End :meth:`run` soon, from any thread; open pages are not waited for."""
        self.server.should_exit = self.server.force_exit = True


@contextlib.contextmanager
def open_server(
    path: Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    largest: int = LARGEST_UPLOAD,
) -> Iterator[Served]:
    """A server for one person; at the end of the block its folder is removed.

    Parameters
    ----------
    path : Path, optional
        Rows or a model to begin with.
    host, port
        Where to listen; a port of 0 is chosen by the system.
    token : str, optional
        Random if not given, which is allowed on loopback only.
    largest : int
        Bytes of an upload.
    """
    wide = not is_loopback(host)
    if wide and token is None:
        raise DataError(f"others can reach '{host}'; give a token that they must know.")
    if token is not None and not _TOKEN.fullmatch(token):
        raise DataError("a token has at least 16 letters, digits, '-' and '_'; give another.")
    token = token or secrets.token_urlsafe(24)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        temporary_folder() as folder,
        socket.create_server((host, port), family=family) as listening,
    ):
        port = listening.getsockname()[1]
        store = Store(folder)
        studio = Studio(store, token, None if path is None else store.adopt(path).id)
        guard = Guard(studio.app(), Rules(port, token, largest, wide))
        shown = f"[{host}]" if ":" in host else host
        try:
            server = uvicorn.Server(_config(guard))
            yield Served(server, listening, studio, f"http://{shown}:{port}/?token={token}")
        finally:
            studio.pool.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Timed,
        ws="websockets-sansio",
        ws_max_size=LARGEST_FRAME,
        ws_per_message_deflate=False,  # a small frame must not become a large message
        lifespan="off",
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )


def _facts(item: Item) -> dict[str, Any]:
    return {"id": item.id, "name": item.name, "model": item.path.suffix.lower() == ".mercer"}


async def _problem(_request: Request, error: Exception) -> Response:
    return JSONResponse({"problem": str(error)}, 400)

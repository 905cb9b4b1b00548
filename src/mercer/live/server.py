"""``mercer explore``: the live page with Python behind it, on this machine.

Routes take ids and never a path or an address. Fits go through the WebSocket; files and models,
which may be large, through HTTP.
"""

import asyncio
import contextlib
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
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
from mercer.live.guard import HEADERS, Guard, Timed, address_of, save_body
from mercer.live.page import bundle, source
from mercer.live.protocol import Wanted, read_message
from mercer.live.worker import ENDINGS, MODEL, PAGE, Desk, Job, Pool

#: Most bytes of an upload.
LARGEST_UPLOAD = 256 << 20
#: Most bytes of a message; a request of the page has a few hundred.
LARGEST_FRAME = 1 << 16
#: Most pages, and most uploads, at the same time. Only who knows the token is counted: strangers
#: who hold connections open must not keep the owner out.
MOST_PAGES, MOST_UPLOADS = 16, 4
#: Most uploads and results that are kept; the least recently used are removed first.
MOST_ITEMS = 24
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")


@dataclass(frozen=True)
class Item:
    """A file of rows or a model."""

    id: str  #: random; the only name by which a page can speak of it
    name: str  #: what its owner calls it: shown, and never part of a path
    folder: Path  #: its own, in which results may stand
    path: Path  #: the file: in the folder, or what the command line named


class Store:
    """Uploads and results, by random ids, in a private folder that its maker removes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._items: dict[str, Item] = {}

    def new(self, name: str) -> Item:
        """A place for an upload, of whose name only the ending is used."""
        for ending in ENDINGS:
            if name.lower().endswith(ending):
                return self.add(name, f"file{ending}")
        raise DataError(f"the ending is not known; give one of {', '.join(ENDINGS)}.")

    def add(self, name: str, file: str | Path) -> Item:
        """A place for a file; one that the command line named stays where it is."""
        while len(self._items) >= MOST_ITEMS:
            ours = (key for key, item in self._items.items() if item.path.parent == item.folder)
            self.drop(next(ours))  # not what the command line named
        key = secrets.token_hex(16)
        folder = self.root / key
        folder.mkdir(mode=0o700)
        item = Item(key, name[:200], folder, folder / file)  # an absolute path stays as it is
        self._items[key] = item
        return item

    def get(self, key: str) -> Item:
        """The item of an id."""
        if key not in self._items:
            raise DataError("this file no longer exists; load it again.")
        self._items[key] = self._items.pop(key)  # most recently used
        return self._items[key]

    def drop(self, key: str) -> None:
        """Forget an item, and remove what was stored for it, if it is still there."""
        if (item := self._items.pop(key, None)) is not None:
            shutil.rmtree(item.folder, ignore_errors=True)


class Studio:
    """The application: what is stored, who computes, and the routes.

    ``start`` is the id of what the page begins with, ``largest`` the most bytes of an upload.
    """

    def __init__(self, store: Store, token: str, largest: int, start: str | None = None) -> None:
        self.store, self.token, self.largest, self.start = store, token, largest, start
        self.pool = Pool()
        self._pages = asyncio.Semaphore(MOST_PAGES)
        self._uploads = asyncio.Semaphore(MOST_UPLOADS)

    def app(self) -> Starlette:
        """The routes; to be put behind a :class:`~mercer.live.guard.Guard`."""
        page = source("explore.html").replace("$token", self.token)
        code = f"{bundle('explore')}\n$explore.start();\n"
        return Starlette(
            routes=[
                Route("/", Response(page, media_type="text/html")),
                Route("/live.js", Response(code, media_type="text/javascript")),
                Route("/live.css", Response(source("live.css"), media_type="text/css")),
                Route("/start", self._start),
                Route("/data", self._upload, methods=["POST"]),
                Route("/page/{id}", partial(self._file, PAGE)),
                Route("/model/{id}", partial(self._file, MODEL)),
                WebSocketRoute("/fits", self._socket),
            ],
            exception_handlers={DataError: _problem},
        )

    async def _start(self, _request: Request) -> Response:
        """What the command line named: rows to fit, or a model."""
        return JSONResponse(None if self.start is None else _facts(self.store.get(self.start)))

    async def _upload(self, request: Request) -> Response:
        """The body is the file; its name is shown, and its ending read."""
        if self._uploads.locked():
            raise DataError(f"{MOST_UPLOADS} files are being uploaded; wait until one has arrived.")
        item = self.store.new(request.query_params.get("name", ""))
        try:
            async with self._uploads:
                with atomic_file(item.path) as file:
                    await save_body(request, file, self.largest)
        except FileNotFoundError:
            raise DataError("it was removed to make room for other files; load it again.") from None
        except BaseException:
            self.store.drop(item.id)
            raise
        return JSONResponse(_facts(item))

    async def _file(self, name: str, request: Request) -> Response:
        path = self.store.get(request.path_params["id"]).folder / name
        if not path.exists():
            raise DataError("there is no such model; fit one.")
        return FileResponse(path, media_type="application/octet-stream")

    async def _socket(self, socket: WebSocket) -> None:
        """One page: its fits, one in flight, the latest of those that wait."""
        if self._pages.locked():
            await socket.close(1013)
            return
        async with self._pages:
            await socket.accept()
            self.pool.warm()
            desk = Desk(partial(self._answer, socket))
            try:
                async for text in socket.iter_text():
                    await self._hear(desk, socket, text)
            except WebSocketDisconnect:  # before it had its answer
                pass
            except KeyError:  # bytes instead of text
                await socket.close(1003)
            finally:
                await desk.cancel()

    async def _hear(self, desk: Desk, socket: WebSocket, text: str) -> None:
        number = None
        try:
            message = read_message(text)
            number = message["id"]
            if "cancel" in message:
                await desk.cancel()
                await socket.send_json({"id": number, "cancelled": True})
            else:
                fit = None if "open" in message else Wanted.read(message.get("fit"))
                key = str(message["open"]) if fit is None else fit.data
                desk.ask(number, self.store.get(key), fit)
        except MercerError as error:
            await socket.send_json({"id": number, "problem": str(error)})

    async def _answer(self, socket: WebSocket, number: int, item: Item, fit: Wanted | None) -> None:
        """Do one request, and say how it goes and went."""

        async def say(words: dict[str, Any]) -> None:
            await socket.send_json({"id": number, **words})

        made, done = self.store.add(item.name, MODEL), False
        try:
            await say({"stage": "starting Python"})
            problem = await self.pool.run(Job(item.path, item.name, made.folder, fit), say)
            done = not problem
            await say(problem or {"made": made.id})
        except (WebSocketDisconnect, RuntimeError):  # the page has gone
            pass
        finally:
            if not done:
                self.store.drop(made.id)


@dataclass(frozen=True)
class Served:
    """A server that listens, and is about to run."""

    server: uvicorn.Server
    socket: socket.socket
    studio: Studio
    url: str  #: includes the token; whoever has the address may use the server

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

    It begins with the rows or the model at ``path``, on a port that the system chooses if it is 0,
    and takes uploads of at most ``largest`` bytes. Without a token one is drawn, which is allowed
    on loopback only.
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
        start = None if path is None else store.add(path.name, path.resolve()).id
        studio = Studio(store, token, largest, start)
        server = uvicorn.Server(_config(Guard(studio.app(), port, token, wide)))
        shown = f"[{host}]" if ":" in host else host
        try:
            yield Served(server, listening, studio, f"http://{shown}:{port}/?token={token}")
        finally:
            studio.pool.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    address = address_of(host)
    return host == "localhost" if address is None else address.is_loopback


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
        headers=HEADERS,
        timeout_graceful_shutdown=1,
    )


def _facts(item: Item) -> dict[str, Any]:
    return {"id": item.id, "name": item.name, "model": item.path.suffix.lower() == ".mercer"}


async def _problem(_request: Request, error: Exception) -> Response:
    return JSONResponse({"problem": str(error)}, 400)

"""Uploads and results, by random ids, in a private folder that vanishes with the server."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from mercer.exceptions import DataError
from mercer.live.worker import ENDINGS, MODEL

#: Uploads and results that are kept; those that were not used for longest go first.
MOST_ITEMS = 24


@dataclass(frozen=True)
class Item:
    """A file of rows or a model.

    Attributes
    ----------
    id : str
        Random; the only name by which a page can speak of it.
    name : str
        What its owner calls it: shown, and never part of a path.
    folder : Path
        Its own folder, in which results may stand.
    path : Path
        The file: in the folder, or what the command line named.
    """

    id: str
    name: str
    folder: Path
    path: Path


class Store:
    """What a server keeps.

    Parameters
    ----------
    root : Path
        A private folder; whoever made it removes it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._items: dict[str, Item] = {}

    def new(self, name: str) -> Item:
        """A place for an upload, of whose name only the ending is used."""
        ending = next((known for known in ENDINGS if name.lower().endswith(known)), None)
        if ending is None:
            raise DataError(f"the ending is not known; give one of {', '.join(ENDINGS)}.")
        return self._add(name, f"file{ending}")

    def result(self, name: str) -> Item:
        """A place for a model and its page."""
        return self._add(name, MODEL)

    def adopt(self, path: Path) -> Item:
        """A file or folder that the command line named; it stays where it is."""
        return self._add(path.name, path.resolve())

    def _add(self, name: str, file: str | Path) -> Item:
        while len(self._items) >= MOST_ITEMS:
            ours = (key for key, item in self._items.items() if item.path.parent == item.folder)
            self.drop(next(ours))  # not what the command line named
        key = secrets.token_hex(16)
        folder = self.root / key
        folder.mkdir(mode=0o700)
        item = Item(key, name[:200], folder, folder / file)  # an absolute path stays itself
        self._items[key] = item
        return item

    def get(self, key: str) -> Item:
        """The item of an id."""
        if key not in self._items:
            raise DataError("there is no such file any more; load it again.")
        item = self._items.pop(key)
        self._items[key] = item  # used last, so that it goes last
        return item

    def drop(self, key: str) -> None:
        """Forget an item, and remove what was stored for it, if it is still there."""
        if (item := self._items.pop(key, None)) is not None:
            shutil.rmtree(item.folder, ignore_errors=True)

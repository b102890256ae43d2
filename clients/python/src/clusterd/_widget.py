# SPDX-License-Identifier: MIT
"""A live map in a notebook. Its traffic goes through the kernel: the browser needs no way to the daemon."""
from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Sequence, Tuple

try:
    import anywidget
    import traitlets
except ImportError as error:  # pragma: no cover - depends on the installation
    raise ImportError("clusterd.Map needs anywidget: pip install 'clusterd[notebook]'") from error

from . import _bundle, _columns, _embedded, _loading
from ._client import Client, Stream
from ._errors import ClusterdError, Status, make_error
from ._results import Feature
from ._source import Source
from ._types import WORLD, Expression

#: As many durations as `Map.timings` has.
TIMINGS = 1000
_TABLES = (".parquet", ".geoparquet", ".pq")
_script, _style = _bundle.files()


class Map(anywidget.AnyWidget):  # type: ignore[misc]
    """A live map of a source, for JupyterLab, VS Code and other hosts of anywidget.

    `data` is a source's name, a `Source`, the path of a file, a DataFrame of pandas, GeoPandas or polars, or an Arrow table;
    `options` are the source's, such as `radius=60`. Without `client`, and for data that are not a source's name, a daemon is
    started for this process; it ends with the last map (`close`) or the process, however that ends.

    `bbox`, `zoom`, `center` and `filter` follow the map, and move it when they are set. `revision`, `selected` (the clicked
    feature), `shown` (how many clusters and points are drawn) and `error` (what is wrong with the filter) are read only.
    """

    _esm = _script
    _css = _style
    height = traitlets.Int(480, help="of the box, in pixels").tag(sync=True)
    bbox = traitlets.List(traitlets.Float(), help="[west, south, east, north] of what is seen, in degrees")
    zoom = traitlets.Float(0.0, help="the world is 512 * 2 ** zoom pixels wide")
    center = traitlets.List(traitlets.Float(), help="[longitude, latitude]")
    filter = traitlets.Any(None, allow_none=True, help="an expression that features must pass")
    revision = traitlets.Int(0, read_only=True, help="the number of the data that are drawn")
    selected = traitlets.Any(None, allow_none=True, read_only=True, help="the clicked feature")
    shown = traitlets.Int(0, read_only=True, help="how many clusters and points are drawn")
    error = traitlets.Unicode(None, allow_none=True, read_only=True, help="what is wrong with the filter")

    def __init__(
        self, data: Any, *, client: Optional[Client] = None, filter: Optional[Expression] = None,
        center: Optional[Sequence[float]] = None, zoom: Optional[float] = None, height: int = 480, **options: Any,
    ) -> None:
        self._daemon: Optional[_embedded.Embedded] = None
        self._own_client: Optional[Client] = None
        self._made_source = False
        self._streams: Dict[Tuple[str, int], Stream] = {}
        self._readers = ThreadPoolExecutor(4, "clusterd-map")
        self._timings: Deque[float] = deque(maxlen=TIMINGS)
        self._on_click: List[Callable[[Feature], Any]] = []
        self._on_move: List[Callable[[Map], Any]] = []
        self._is_following = False
        # What the map shows that has not been told otherwise: all of the source.
        self._place: Dict[str, Any] = {}
        self.source: Source
        try:
            self.client, self.source = self._open(data, client, options)
            description = self.source.describe()
            box = description["bbox"] or list(WORLD)
            projection = description["options"].get("projection")
            self._plane = projection.get("planar") if isinstance(projection, Mapping) else None
            self._home = box
            super().__init__(height=height)
            with self._following():
                self.bbox = [float(edge) for edge in box]
                self.center = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]
                self.set_trait("revision", int(description["revision"]))
        except BaseException:
            self._free()
            raise
        self._accepted: Optional[Expression] = None
        self.on_msg(self._receive)
        self.observe(self._moved_here, ["bbox", "zoom", "center"])
        self.observe(self._filtered, "filter")
        if center is not None:
            self.center = list(center)
        if zoom is not None:
            self.zoom = zoom
        if filter is not None:
            self.filter = filter

    # Data

    def _open(self, data: Any, client: Optional[Client], options: Mapping[str, Any]) -> Tuple[Client, Source]:
        """The client and the source that has the data; makes a source unless they are one's."""
        if isinstance(data, Source):
            client, data = client or data.client, data.name
        if isinstance(data, str) and not _is_file(data):
            if client is None:
                client = self._own_client = Client()
            if options:
                client.update_options(data, options)
            client.get_source(data)
            return client, client.source(data)
        if client is None:
            self._daemon = _embedded.acquire()
            client = self._own_client = Client(self._daemon.path)
        name = _free_name(client, data)
        self._made_source = self._daemon is None
        self.client, self.source = client, client.source(name)
        client.create_source(name, dict(options))
        try:
            if not isinstance(data, (str, os.PathLike)):
                client.from_arrow(name, data)
            elif os.fspath(data).lower().endswith(_TABLES):
                client.from_parquet(os.fspath(data), name)
            else:
                _put(client, name, os.fspath(data))
        except BaseException:
            with contextlib.suppress(ClusterdError):
                client.delete_source(name)
            self._made_source = False
            raise
        return client, self.source

    # What users call

    @property
    def timings(self) -> List[float]:
        """The last 1,000 durations, in seconds, from a moved viewport to its drawn answer, as the browser measured them."""
        return list(self._timings)

    def on_click(self, call: Callable[[Feature], Any], remove: bool = False) -> None:
        """Calls `call` with each feature that is clicked; with `remove`, no more."""
        _register(self._on_click, call, remove)

    def on_move(self, call: Callable[["Map"], Any], remove: bool = False) -> None:
        """Calls `call` with the map whenever it has been moved; with `remove`, no more."""
        _register(self._on_move, call, remove)

    def close(self) -> None:
        """Ends the map: its watches, and the daemon that was started for it if no other map needs it."""
        self._free()
        super().close()

    def _free(self) -> None:
        for key in list(self._streams):
            self._end(key)
        self._readers.shutdown(wait=False)
        if self._made_source:
            self._made_source = False
            with contextlib.suppress(ClusterdError):
                self.client.delete_source(self.source.name)
        if self._own_client is not None:
            self._own_client.close()
        daemon, self._daemon = self._daemon, None
        if daemon is not None:
            _embedded.release(daemon)

    # From Python to the browser

    @contextlib.contextmanager
    def _following(self) -> Any:
        """Sets traits that follow the map, and so do not move it."""
        before, self._is_following = self._is_following, True
        try:
            yield
        finally:
            self._is_following = before

    def _moved_here(self, change: Mapping[str, Any]) -> None:
        if self._is_following:
            return
        # Both at once: a world that is as wide as the box has only one centre.
        self._place = {"bbox": self.bbox} if change["name"] == "bbox" else {"center": self.center, "zoom": self.zoom}
        self.send({"kind": "move", **self._place})

    def _filtered(self, change: Mapping[str, Any]) -> None:
        """Asks with the filter first: if it is wrong, the map stays as it is."""
        try:
            self.source.clusters(limit=1, filter=change["new"])
        except ClusterdError as error:
            self.set_trait("error", error.message)
            return
        except (TypeError, ValueError) as error:  # no JSON
            self.set_trait("error", str(error))
            return
        self.set_trait("error", None)
        self._accepted = change["new"]
        self.send({"kind": "filter", "filter": self._accepted})

    # From the browser

    def _receive(self, _: Any, content: Mapping[str, Any], buffers: Any) -> None:
        handler = getattr(self, f"_take_{content.get('kind')}", None)
        if handler is not None:
            handler(content)

    def _take_ready(self, content: Mapping[str, Any]) -> None:
        place = self._place or {"bbox": self._home, "home": True}
        self.send({
            "kind": "start", "view": content["view"], "source": self.source.name, "filter": self._accepted, "plane": self._plane, **place,
        })

    def _take_get(self, content: Mapping[str, Any]) -> None:
        if not content["path"].startswith(("/sources/", "/ground/")):
            return
        with contextlib.suppress(RuntimeError):  # the map is closed
            self._readers.submit(self._read, content["view"], content["id"], content["path"])

    def _read(self, view: str, number: int, path: str) -> None:
        answer: Dict[str, Any] = {"kind": "answer", "view": view, "id": number}
        try:
            status, body = _get(self.client, path)
            if status >= 400:
                error = _columns.error(status, body)
                answer.update(code=error.status.lower(), message=error.message)
        except ClusterdError as error:
            status, body = 503, b""
            answer.update(code=error.status.lower(), message=error.message)
        self.send({**answer, "status": status}, buffers=[body])

    def _take_watch(self, content: Mapping[str, Any]) -> None:
        key = (content["view"], content["id"])
        params = {**content["params"], "source": self.source.name}
        try:
            self._streams[key] = stream = self.client.stream("ClusterService/WatchClusters", params)
        except ClusterdError as error:
            return self._say_ended(key, error)
        threading.Thread(target=self._watch, args=(key, stream), daemon=True).start()

    def _watch(self, key: Tuple[str, int], stream: Stream) -> None:
        """Passes a watch's items on as they come."""
        failure: Optional[ClusterdError] = None
        try:
            for item in stream:
                self.send({"kind": "item", "view": key[0], "id": key[1], "item": item})
        except ClusterdError as error:
            failure = error
        if self._streams.pop(key, None) is not None:
            self._say_ended(key, failure)

    def _say_ended(self, key: Tuple[str, int], error: Optional[ClusterdError]) -> None:
        reason = {"code": 1000, "reason": ""} if error is None else {"code": 4000 + error.code, "reason": error.message}
        self.send({"kind": "ended", "view": key[0], "id": key[1], **reason})

    def _take_send(self, content: Mapping[str, Any]) -> None:
        stream = self._streams.get((content["view"], content["id"]))
        if stream is not None:
            with contextlib.suppress(ClusterdError):
                stream.send(content["item"])

    def _take_close(self, content: Mapping[str, Any]) -> None:
        self._end((content["view"], content["id"]))

    def _end(self, key: Tuple[str, int]) -> None:
        stream = self._streams.pop(key, None)
        if stream is not None:
            with contextlib.suppress(ClusterdError):
                stream.cancel()

    def _take_state(self, content: Mapping[str, Any]) -> None:
        """Where the map is, and what is drawn."""
        with self._following(), self.hold_trait_notifications():
            self.bbox = [float(edge) for edge in content["bbox"]]
            self.zoom = float(content["zoom"])
            self.center = [float(part) for part in content["center"]]
            if "shown" in content:
                self.set_trait("revision", int(content["revision"]))
                self.set_trait("shown", int(content["shown"]))
        # A view that is opened later begins there.
        self._place = {"center": self.center, "zoom": self.zoom}
        self._timings.extend(map(float, content.get("seconds", ())))
        for call in list(self._on_move) if content.get("hasMoved") else ():
            call(self)

    def _take_click(self, content: Mapping[str, Any]) -> None:
        feature = content["feature"] and Feature(content["feature"])
        self.set_trait("selected", feature)
        for call in list(self._on_click) if feature else ():
            call(feature)


def _register(calls: List[Any], call: Any, remove: bool) -> None:
    if not remove:
        calls.append(call)
    elif call in calls:
        calls.remove(call)


def _is_file(text: str) -> bool:
    """Whether a text is a file's path and not a source's name."""
    return os.path.isfile(text) or "/" in text


def _free_name(client: Client, data: Any) -> str:
    """A source's name for data: the file's, with a number if there is one of that name."""
    stem = _loading.name_of(os.fspath(data)) if isinstance(data, (str, os.PathLike)) else "map"
    known = {one["source"] for one in client.list_sources()}
    name, number = stem, 1
    while name in known:
        number += 1
        name = f"{stem[:56]}-{number}"
    return name


def _put(client: Client, source: str, path: str) -> None:
    """Fills a source from a file of GeoJSON, lines or CSV, gzipped or not; the daemon finds out which."""
    fields = {"Content-Encoding": "gzip"} if path.endswith(".gz") else {}
    try:
        with open(path, "rb") as file:
            status, body = _request(client, "PUT", f"/sources/{source}/features", file, fields)
    except OSError as error:
        if isinstance(error, ClusterdError):
            raise
        raise make_error(Status.NOT_FOUND, f"{path} cannot be read: {error.strerror}") from None
    if status != 200:
        raise _columns.error(status, body)


def _get(client: Client, path: str) -> Tuple[int, bytes]:
    return _request(client, "GET", path, None, {"Accept": "*/*"})


def _request(client: Client, method: str, path: str, body: Any, fields: Mapping[str, str]) -> Tuple[int, bytes]:
    connection = _columns.Connection(client._pool.path, client._pool.connect_timeout)
    try:
        with _columns.errors():
            connection.request(method, path, body, dict(fields))
            answer = connection.getresponse()
            return answer.status, answer.read()
    finally:
        connection.close()

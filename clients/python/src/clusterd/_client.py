# SPDX-License-Identifier: MIT
"""The blocking client."""
from __future__ import annotations

import time
from types import TracebackType
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping, Optional, Sequence, Type, TypeVar, Union,
    overload,
)

from . import _columns, _frames, _requests
from ._columns import check_form
from ._connection import Deadline, Pool
from ._errors import AlreadyExistsError, UnavailableError, protocol_error
from ._features import FeatureItem, batches
from ._loading import Loading, advise
from ._requests import Description, Request
from ._results import Feature, FeatureCollection
from ._types import WORLD, BBox, ColumnForm, Form, Options
from ._viewport import Viewport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._source import Source
    from ._types import (
        ClusterIdQuery, ClusterQuery, FeatureQuery, GridQuery, HistogramQuery, LocateQuery, TileQuery, TopQuery,
    )

Answer = TypeVar("Answer")
#: How much longer than the daemon this side waits before it gives up on the daemon itself, in seconds.
GRACE = 0.25


class Stream:
    """A call with streams, and the iterator over its items. One thread iterates; any may send and cancel.

    `result` is the last message once the items have ended.
    """

    def __init__(self, pool: Pool, method: str, params: Mapping[str, Any], timeout: Optional[float], items: bool) -> None:
        self.result: Any = None
        self._deadline = Deadline(timeout, GRACE)
        self._pool, self._connection = pool, pool.take()
        self._call = self._connection.calls.begin(streams=items)
        self._is_over = False
        try:
            self._write(_frames.opening(self._call, method, params, timeout))
        except BaseException:  # the params are not JSON, or the time is over
            self.close()
            raise

    def send(self, item: Union[Mapping[str, Any], bytes]) -> None:
        """Sends an item: a mapping, or JSON text."""
        self._write(_frames.item(self._call, item))

    def end(self) -> None:
        """Says that no more items follow."""
        self._write(_frames.end(self._call))

    def cancel(self) -> None:
        """Asks the daemon to stop; the iteration then fails with CANCELLED."""
        self._write(_frames.cancel(self._call))

    def is_ready(self, seconds: float = 0) -> bool:
        """Waits until something has come, or so many seconds."""
        return self._is_over or self._connection.poll(seconds)

    def _write(self, data: bytes) -> None:
        if not self._is_over:
            self._connection.write(data, self._deadline)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._is_over:
            raise StopIteration
        try:
            kind, payload = self._connection.event(self._call, self._deadline)
        except BaseException:
            self.close()
            raise
        if kind == "item":
            return payload
        self.close()
        if kind == "error":
            raise payload
        self.result = payload
        raise StopIteration

    def finish(self) -> Any:
        """Waits for the end, leaving out items that still come; the last message."""
        for _ in self:
            pass
        return self.result

    def close(self) -> None:
        """Gives the connection back; a call that is not over is cancelled by closing it."""
        if not self._is_over:
            self._is_over = True
            self._pool.give(self._connection)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client(Loading):
    """Calls the daemon. Safe for threads: each call has a connection of its own, and connections are kept.

    `path` is the daemon's socket; without it the first of `$CLUSTERD_SOCKET`, `$XDG_RUNTIME_DIR/clusterd.sock` and
    `/run/clusterd/clusterd.sock` that answers. `timeout` in seconds holds for calls that name none. Calls raise
    ClusterdError.
    """

    def __init__(
        self, path: Optional[str] = None, *, timeout: Optional[float] = None, pool_size: int = 8,
        connect_timeout: Optional[float] = 10, http: Optional[str] = None,
    ) -> None:
        self._pool = Pool(path, pool_size, connect_timeout)
        self._timeout = timeout
        self.http = http

    def close(self) -> None:
        """Closes all connections; calls of other threads fail with UNAVAILABLE."""
        self._pool.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    # Any method

    def call(self, method: str, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None) -> Any:
        """Calls a unary method, such as "ClusterService/GetClusters"; its result."""
        with self._open(method, params, timeout, items=False) as stream:
            return stream.finish()

    def stream(
        self, method: str, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> Stream:
        """Opens a call with streams. Only the timeout given here ends it."""
        return Stream(self._pool, method, params or {}, timeout, items=True)

    def send_all(
        self, method: str, params: Mapping[str, Any], items: Iterable[Union[Mapping[str, Any], bytes]], *,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls a method that takes a stream of items; its result. Stops early if the daemon refuses."""
        with self._open(method, params, timeout, items=False) as stream:
            for item in items:
                if stream.is_ready():
                    return stream.finish()
                stream.send(item)
            stream.end()
            return stream.finish()

    def _open(self, method: str, params: Optional[Mapping[str, Any]], timeout: Optional[float], items: bool) -> Stream:
        return Stream(self._pool, method, params or {}, self._timeout if timeout is None else timeout, items)

    def _run(self, request: Request[Answer], timeout: Optional[float]) -> Answer:
        answer = self.call(request.method, request.params, timeout=timeout)
        try:
            return request.read(answer)
        except (KeyError, TypeError, ValueError) as error:
            raise protocol_error(f"{request.method} was answered without {error}") from None

    def _columns(self, request: Request[Any], form: str, timeout: Optional[float]) -> Any:
        """The answer as columns, over HTTP on the same socket."""
        connection = _columns.Connection(self._pool.path, self._pool.connect_timeout)
        timeout = self._timeout if timeout is None else timeout
        body = _columns.ask(connection, request.method, request.params, timeout, GRACE)
        answer, metadata = _columns.read(body, form)
        advise(metadata, stacklevel=4)
        return answer

    # What a map shows

    @overload
    def clusters(
        self, source: str, bbox: BBox = WORLD, zoom: float = 0, *, as_: Literal["geojson"] = "geojson", timeout: Optional[float] = None,
        **query: Unpack[ClusterQuery],
    ) -> FeatureCollection: ...

    @overload
    def clusters(
        self, source: str, bbox: BBox = WORLD, zoom: float = 0, *, as_: ColumnForm, timeout: Optional[float] = None,
        **query: Unpack[ClusterQuery],
    ) -> Any: ...

    def clusters(
        self, source: str, bbox: BBox = WORLD, zoom: float = 0, *, as_: Form = "geojson", timeout: Optional[float] = None,
        **query: Unpack[ClusterQuery],
    ) -> Any:
        """The clusters and points in a box at a zoom.

        `as_` is what the answer comes as: "geojson" (a FeatureCollection), "arrow" (a pyarrow Table), "batches" (a pyarrow
        RecordBatchReader, which needs memory for one batch), or a DataFrame of "pandas", "geopandas" (EPSG:4326) or "polars".
        Frames have the columns `longitude`, `latitude`, `id`, `cluster_id`, `point_count` and one for each property.
        """
        request = _requests.clusters(source, bbox, zoom, **query)
        if check_form(as_):
            return self._columns(request, as_, timeout)
        answer = self._run(request, timeout)
        advise(answer, stacklevel=3)
        return answer

    def tile(
        self, source: str, z: int, x: int, y: int, *, timeout: Optional[float] = None, **query: Unpack[TileQuery]
    ) -> Dict[str, Any]:
        """A tile, as supercluster's getTile."""
        return self._run(_requests.tile(source, z, x, y, **query), timeout)

    def vector_tile(
        self, source: str, z: int, x: int, y: int, *, timeout: Optional[float] = None, **query: Unpack[TileQuery]
    ) -> bytes:
        """A tile as a Mapbox Vector Tile; no bytes if it is empty."""
        return self._run(_requests.vector_tile(source, z, x, y, **query), timeout)

    def children(
        self, source: str, cluster: int, *, timeout: Optional[float] = None, **query: Unpack[ClusterIdQuery]
    ) -> FeatureCollection:
        """A cluster's children on the zoom at which it separates."""
        return self._run(_requests.children(source, cluster, **query), timeout)

    @overload
    def leaves(
        self, source: str, cluster: int, limit: int = 10, offset: int = 0, *, as_: Literal["geojson"] = "geojson", timeout: Optional[float] = None,
        **query: Unpack[ClusterIdQuery],
    ) -> FeatureCollection: ...

    @overload
    def leaves(
        self, source: str, cluster: int, limit: int = 10, offset: int = 0, *, as_: ColumnForm, timeout: Optional[float] = None,
        **query: Unpack[ClusterIdQuery],
    ) -> Any: ...

    def leaves(
        self, source: str, cluster: int, limit: int = 10, offset: int = 0, *, as_: Form = "geojson", timeout: Optional[float] = None,
        **query: Unpack[ClusterIdQuery],
    ) -> Any:
        """A page of a cluster's points; a limit of 0 is all. See `Client.clusters` for `as_`."""
        request = _requests.leaves(source, cluster, limit, offset, **query)
        if check_form(as_):
            return self._columns(request, as_, timeout)
        return self._run(request, timeout)

    def expansion_zoom(
        self, source: str, cluster: int, *, timeout: Optional[float] = None, **query: Unpack[ClusterIdQuery]
    ) -> int:
        """The zoom at which a cluster separates."""
        return self._run(_requests.expansion_zoom(source, cluster, **query), timeout)

    def hull(
        self, source: str, cluster: int, *, timeout: Optional[float] = None, **query: Unpack[ClusterIdQuery]
    ) -> Feature:
        """The smallest convex shape around a cluster's points."""
        return self._run(_requests.hull(source, cluster, **query), timeout)

    def locate(
        self, source: str, feature: Union[int, float, str], zoom: float, *, timeout: Optional[float] = None,
        **query: Unpack[LocateQuery],
    ) -> Dict[str, Any]:
        """The cluster or point that shows a feature at a zoom."""
        return self._run(_requests.locate(source, feature, zoom, **query), timeout)

    @overload
    def top(
        self, source: str, by: str, bbox: BBox = WORLD, *, as_: Literal["geojson"] = "geojson", timeout: Optional[float] = None,
        **query: Unpack[TopQuery],
    ) -> FeatureCollection: ...

    @overload
    def top(
        self, source: str, by: str, bbox: BBox = WORLD, *, as_: ColumnForm, timeout: Optional[float] = None,
        **query: Unpack[TopQuery],
    ) -> Any: ...

    def top(
        self, source: str, by: str, bbox: BBox = WORLD, *, as_: Form = "geojson", timeout: Optional[float] = None,
        **query: Unpack[TopQuery],
    ) -> Any:
        """The features in a box with the greatest values of an indexed property; after a `-` with the least. See `Client.clusters` for `as_`."""
        request = _requests.top(source, by, bbox, **query)
        if check_form(as_):
            return self._columns(request, as_, timeout)
        return self._run(request, timeout)

    def histogram(
        self, source: str, property: str, bbox: BBox = WORLD, *, timeout: Optional[float] = None,
        **query: Unpack[HistogramQuery],
    ) -> Dict[str, Any]:
        """How the values of an indexed property are distributed in a box: with `bins` or `edges`, `edges` and `counts` as
        numpy.histogram's, and `below`, `above` and `missing`."""
        return self._run(_requests.histogram(source, property, bbox, **query), timeout)

    def grid(
        self, source: str, resolution: int, bbox: BBox = WORLD, *, timeout: Optional[float] = None,
        **query: Unpack[GridQuery],
    ) -> Dict[str, Any]:
        """The tiles of a zoom that touch a box and have points: `cells`, each with `x`, `y` and `point_count`."""
        return self._run(_requests.grid(source, resolution, bbox, **query), timeout)

    def viewport(
        self, source: str, bbox: BBox = WORLD, zoom: float = 0, *, max_rate: Optional[float] = None,
        transitions: bool = True, frame: float = 0.016, **query: Unpack[ClusterQuery],
    ) -> Viewport:
        """Watches a part of a map: an iterator over what changes there. See `Viewport`."""
        return Viewport(self, source, bbox, zoom, max_rate, transitions, frame, dict(query))

    # Sources

    def source(self, name: str) -> Source:
        """The calls about one source."""
        from ._source import Source

        return Source(self, name)

    def create_source(
        self, source: str, options: Optional[Options] = None, *, timeout: Optional[float] = None
    ) -> Description:
        """Makes a source. Raises AlreadyExistsError if there is one of this name."""
        return self._run(_requests.create_source(source, options), timeout)

    def ensure_source(self, source: str, options: Optional[Options] = None) -> bool:
        """Makes a source, or gives the one that exists these options; whether it was made."""
        try:
            self.create_source(source, options)
        except AlreadyExistsError:
            if options is not None:
                self.update_options(source, options)
            return False
        return True

    def import_features(
        self, source: str, features: Iterable[FeatureItem], *, mode: str = "replace", on_invalid: str = "reject",
        timeout: Optional[float] = None,
    ) -> Description:
        """Imports features: GeoJSON mappings, JSON text, or objects with a `__geo_interface__`. All or nothing."""
        return self._import(source, batches(features), mode, on_invalid, timeout)

    def _import(
        self, source: str, items: Iterable[bytes], mode: str, on_invalid: str, timeout: Optional[float]
    ) -> Description:
        params = {"source": source, "mode": mode, "onInvalid": on_invalid}
        return dict(self.send_all("SourceService/ImportFeatures", params, items, timeout=timeout))

    @overload
    def features(
        self, source: str, *, as_: Literal["geojson"] = "geojson", timeout: Optional[float] = None,
        **query: Unpack[FeatureQuery],
    ) -> Iterator[Feature]: ...

    @overload
    def features(
        self, source: str, *, as_: ColumnForm, timeout: Optional[float] = None, **query: Unpack[FeatureQuery]
    ) -> Any: ...

    def features(
        self, source: str, *, as_: Form = "geojson", timeout: Optional[float] = None, **query: Unpack[FeatureQuery]
    ) -> Any:
        """All features of a source as they were sent, of one revision. They are streamed, however many they are.

        See `clusters` for `as_`.
        """
        if check_form(as_):
            return self._columns(_requests.features(source, **query), as_, timeout)
        return self._features(source, timeout, dict(query))

    def _features(self, source: str, timeout: Optional[float], query: Mapping[str, Any]) -> Iterator[Feature]:
        params = {"source": source, **_requests.wire_names(query)}
        with self.stream("SourceService/GetFeatures", params, timeout=timeout) as pages:
            for page in pages:
                yield from map(Feature, page["features"])

    def load_file(
        self, source: str, path: str, *, mode: str = "replace", on_invalid: str = "reject",
        timeout: Optional[float] = None, **columns: Any,
    ) -> Description:
        """Lets the daemon read a file. `columns` are CSV's: longitude, latitude, id, text."""
        return self._run(_requests.load_file(source, path, mode, on_invalid, **columns), timeout)

    def update_features(
        self, source: str, upsert: Sequence[Mapping[str, Any]] = (), remove: Sequence[Union[int, float, str]] = (), *,
        timeout: Optional[float] = None,
    ) -> Description:
        """Puts in or replaces features by id, and removes others."""
        return self._run(_requests.update_features(source, upsert, remove), timeout)

    def apply_changes(
        self, source: str, log: str, changes: Callable[[Optional[str]], Iterable[Mapping[str, Any]]], *,
        on_invalid: str = "reject",
    ) -> Iterator[Dict[str, Any]]:
        """Applies a log's changes exactly once; the daemon's answers.

        `changes(position)` gives the items after a position, from the beginning if it is None: mappings with `position`,
        `upsert` and `remove`. If the daemon cannot be reached, this connects again after 0.1 to 30 seconds and calls
        `changes` with the position that the source has. An answer means that all up to its `position` is on disk.
        """
        params, pause = {"source": source, "log": log, "onInvalid": on_invalid}, 0.1
        while True:
            try:
                with self.stream("SourceService/ApplyChanges", params) as stream:
                    position = next(stream)["position"]
                    pause = 0.1
                    for item in changes(position):
                        stream.send(item)
                        while stream.is_ready():
                            yield next(stream)
                    stream.end()
                    yield from stream
                    return
            except UnavailableError:
                time.sleep(pause)
                pause = min(30.0, 2 * pause)

    def update_options(self, source: str, options: Options, *, timeout: Optional[float] = None) -> Description:
        """Gives a source other options: the complete set."""
        return self._run(_requests.update_options(source, options), timeout)

    def delete_source(self, source: str, *, timeout: Optional[float] = None) -> None:
        return self._run(_requests.delete_source(source), timeout)

    def get_source(self, source: str, *, timeout: Optional[float] = None) -> Description:
        return self._run(_requests.get_source(source), timeout)

    def list_sources(self, *, timeout: Optional[float] = None) -> List[Description]:
        return self._run(_requests.list_sources(), timeout)

    def evaluate(self, expression: Any, *, timeout: Optional[float] = None, **context: Any) -> Any:
        """The value of an expression; `context`: feature, zoom, accumulated, type."""
        return self._run(_requests.evaluate(expression, **context), timeout)

    # The daemon

    def check(self, *, timeout: Optional[float] = None) -> bool:
        """Whether the daemon serves."""
        return self._run(_requests.check(), timeout)

    def info(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Name, version, limits and methods."""
        return self._run(_requests.info(), timeout)

    def stats(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Counters, latencies, memory."""
        return self._run(_requests.stats(), timeout)

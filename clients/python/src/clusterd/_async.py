# SPDX-License-Identifier: MIT
"""The client for asyncio."""
from __future__ import annotations

import asyncio
import contextlib
import time
from typing import (
    TYPE_CHECKING, Any, AsyncIterable, AsyncIterator, Awaitable, Callable, Dict, Iterable, List, Literal, Mapping, Optional,
    Sequence, TypeVar, Union, overload,
)

from . import _columns, _requests
from ._columns import check_form
from ._errors import (
    AlreadyExistsError, ClusterdError, InvalidArgumentError, UnavailableError, deadline_error, protocol_error,
)
from ._features import FeatureItem, batches
from ._link import Link, LinkCall
from ._loading import advise, begun, name_of, parquet_batches, table_items
from ._markers import Change, Marker, MarkerQueue, Pace
from ._requests import Description, Request
from ._results import Feature, FeatureCollection
from ._types import WORLD, BBox, ColumnForm, Form, Options
from ._viewport import center, lacks_transitions, moved, watch_params

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import (
        ClusterIdQuery, ClusterQuery, FeatureQuery, GridQuery, HistogramQuery, LocateQuery, Restrictions, TileQuery, TopQuery,
    )

Answer = TypeVar("Answer")
GRACE = 0.25


class AsyncStream:
    """A call with streams, and the asynchronous iterator over its items. It has a connection of its own.

    `result` is the last message once the items have ended.
    """

    def __init__(self, link: Link, call: LinkCall, timeout: Optional[float]) -> None:
        self._link, self._call = link, call
        self._end = None if timeout is None else time.monotonic() + timeout + GRACE
        self.result: Any = None
        self._is_over = False

    async def send(self, item: Union[Mapping[str, Any], bytes]) -> None:
        """Sends an item: a mapping, or JSON text. Waits while too much is on its way."""
        await self._call.send(item)

    async def end(self) -> None:
        """Says that no more items follow."""
        await self._call.end()

    async def cancel(self) -> None:
        """Asks the daemon to stop; the iteration then fails with CANCELLED."""
        await self._call.ask_cancel()

    @property
    def is_ready(self) -> bool:
        """Whether the next event is here already."""
        return not self._call.events.empty()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if self._is_over:
            raise StopAsyncIteration
        try:
            left = None if self._end is None else max(0.0, self._end - time.monotonic())
            kind, payload = await asyncio.wait_for(self._call.event(), left)
        except asyncio.TimeoutError:
            await self.close()
            raise deadline_error() from None
        if kind == "item":
            return payload
        await self.close()
        if kind == "error":
            raise payload
        self.result = payload
        raise StopAsyncIteration

    async def close(self) -> None:
        """Closes the connection; a call that is not over is cancelled."""
        self._is_over = True
        await self._link.close()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _send_changes(stream: AsyncStream, changes: AsyncIterable[Mapping[str, Any]]) -> None:
    try:
        async for item in changes:
            await stream.send(item)
        await stream.end()
    except Exception:
        await stream.cancel()
        raise


class AsyncClient:
    """Calls the daemon from asyncio. Any number of tasks may call at once; cancelling a task cancels its call.

    Unary calls share `pool_size` connections, which are opened when they are needed; streams have their own. The
    arguments are those of `Client`.
    """

    def __init__(
        self, path: Optional[str] = None, *, timeout: Optional[float] = None, pool_size: int = 2,
        connect_timeout: Optional[float] = 10,
    ) -> None:
        self._path, self._timeout, self._connect_timeout = path, timeout, connect_timeout
        self._links: List[Optional[Link]] = [None] * max(1, pool_size)
        self._locks: Dict[int, asyncio.Lock] = {}
        self._next = 0

    async def close(self) -> None:
        """Closes all connections but those of streams."""
        links, self._links = self._links, [None] * len(self._links)
        for link in links:
            if link is not None:
                await link.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Any method

    async def call(
        self, method: str, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """Calls a unary method, such as "ClusterService/GetClusters"; its result."""
        timeout = self._timeout if timeout is None else timeout
        call = (await self._link()).open(method, params or {}, timeout, items=False)
        try:
            kind, payload = await asyncio.wait_for(call.event(), None if timeout is None else timeout + GRACE)
        except asyncio.TimeoutError:
            raise deadline_error() from None
        finally:
            call.cancel()  # nothing if the call is over
        if kind == "error":
            raise payload
        return payload

    async def stream(
        self, method: str, params: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> AsyncStream:
        """Opens a call with streams. Only the timeout given here ends it."""
        return await self._stream(method, params, timeout, items=True)

    async def send_all(
        self, method: str, params: Mapping[str, Any], items: Iterable[Union[Mapping[str, Any], bytes]], *,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls a method that takes a stream of items; its result. Stops early if the daemon refuses."""
        timeout = self._timeout if timeout is None else timeout
        source, none = iter(items), object()
        async with await self._stream(method, params, timeout, items=False) as stream:
            loop = asyncio.get_running_loop()
            # Making an item may take long, so it is made on a thread.
            while not stream.is_ready and (item := await loop.run_in_executor(None, next, source, none)) is not none:
                await stream.send(item)  # type: ignore[arg-type]
            if not stream.is_ready:
                await stream.end()
            async for _ in stream:
                pass
            return stream.result

    async def _stream(
        self, method: str, params: Optional[Mapping[str, Any]], timeout: Optional[float], items: bool
    ) -> AsyncStream:
        link = await Link.connect(self._path, self._connect_timeout)
        try:
            return AsyncStream(link, link.open(method, params or {}, timeout, items), timeout)
        except BaseException:
            await link.close()
            raise

    async def _link(self) -> Link:
        """The next of the shared connections, opened if it is not or was lost."""
        at = self._next = (self._next + 1) % len(self._links)
        async with self._locks.setdefault(at, asyncio.Lock()):
            link = self._links[at]
            if link is None or link.lost is not None:
                link = self._links[at] = await Link.connect(self._path, self._connect_timeout)
            return link

    async def _run(self, request: Request[Answer], timeout: Optional[float]) -> Answer:
        answer = await self.call(request.method, request.params, timeout=timeout)
        try:
            return request.read(answer)
        except (KeyError, TypeError, ValueError) as error:
            raise protocol_error(f"{request.method} was answered without {error}") from None

    async def _columns(self, request: Request[Any], form: str, timeout: Optional[float]) -> Any:
        """The answer as columns. It is received on a thread, whose connection ends if the task is cancelled."""
        timeout = self._timeout if timeout is None else timeout
        connection = _columns.Connection(self._path, self._connect_timeout)

        def receive() -> Any:
            return _columns.read(_columns.ask(connection, request.method, request.params, timeout, GRACE), form)

        try:
            answer, metadata = await asyncio.get_running_loop().run_in_executor(None, receive)
        except asyncio.CancelledError:
            connection.abort()
            raise
        advise(metadata, stacklevel=4)
        return answer

    # What a map shows

    @overload
    async def clusters(
        self, source: str, bbox: BBox = WORLD, zoom: float = 0, *, as_: Literal["geojson"] = "geojson", timeout: Optional[float] = None,
        **query: Unpack[ClusterQuery],
    ) -> FeatureCollection: ...

    @overload
    async def clusters(
        self, source: str, bbox: BBox = WORLD, zoom: float = 0, *, as_: ColumnForm, timeout: Optional[float] = None,
        **query: Unpack[ClusterQuery],
    ) -> Any: ...

    async def clusters(
        self, source: str, bbox: BBox = WORLD, zoom: float = 0, *, as_: Form = "geojson", timeout: Optional[float] = None,
        **query: Unpack[ClusterQuery],
    ) -> Any:
        """The clusters and points in a box at a zoom. See `Client.clusters` for `as_`."""
        request = _requests.clusters(source, bbox, zoom, **query)
        if check_form(as_):
            return await self._columns(request, as_, timeout)
        answer = await self._run(request, timeout)
        advise(answer, stacklevel=3)
        return answer

    async def tile(
        self, source: str, z: int, x: int, y: int, *, timeout: Optional[float] = None, **query: Unpack[TileQuery]
    ) -> Dict[str, Any]:
        """A tile, as supercluster's getTile."""
        return await self._run(_requests.tile(source, z, x, y, **query), timeout)

    async def vector_tile(
        self, source: str, z: int, x: int, y: int, *, timeout: Optional[float] = None, **query: Unpack[TileQuery]
    ) -> bytes:
        """A tile as a Mapbox Vector Tile; no bytes if it is empty."""
        return await self._run(_requests.vector_tile(source, z, x, y, **query), timeout)

    async def children(
        self, source: str, cluster: int, *, timeout: Optional[float] = None, **query: Unpack[ClusterIdQuery]
    ) -> FeatureCollection:
        """A cluster's children on the zoom at which it separates."""
        return await self._run(_requests.children(source, cluster, **query), timeout)

    @overload
    async def leaves(
        self, source: str, cluster: int, limit: int = 10, offset: int = 0, *, as_: Literal["geojson"] = "geojson", timeout: Optional[float] = None,
        **query: Unpack[ClusterIdQuery],
    ) -> FeatureCollection: ...

    @overload
    async def leaves(
        self, source: str, cluster: int, limit: int = 10, offset: int = 0, *, as_: ColumnForm, timeout: Optional[float] = None,
        **query: Unpack[ClusterIdQuery],
    ) -> Any: ...

    async def leaves(
        self, source: str, cluster: int, limit: int = 10, offset: int = 0, *, as_: Form = "geojson", timeout: Optional[float] = None,
        **query: Unpack[ClusterIdQuery],
    ) -> Any:
        """A page of a cluster's points; a limit of 0 is all. See `Client.clusters` for `as_`."""
        request = _requests.leaves(source, cluster, limit, offset, **query)
        if check_form(as_):
            return await self._columns(request, as_, timeout)
        return await self._run(request, timeout)

    async def expansion_zoom(
        self, source: str, cluster: int, *, timeout: Optional[float] = None, **query: Unpack[ClusterIdQuery]
    ) -> int:
        """The zoom at which a cluster separates."""
        return await self._run(_requests.expansion_zoom(source, cluster, **query), timeout)

    async def hull(
        self, source: str, cluster: int, *, timeout: Optional[float] = None, **query: Unpack[ClusterIdQuery]
    ) -> Feature:
        """The smallest convex shape around a cluster's points."""
        return await self._run(_requests.hull(source, cluster, **query), timeout)

    async def locate(
        self, source: str, feature: Union[int, float, str], zoom: float, *, timeout: Optional[float] = None,
        **query: Unpack[LocateQuery],
    ) -> Dict[str, Any]:
        """The cluster or point that shows a feature at a zoom."""
        return await self._run(_requests.locate(source, feature, zoom, **query), timeout)

    @overload
    async def top(
        self, source: str, by: str, bbox: BBox = WORLD, *, as_: Literal["geojson"] = "geojson", timeout: Optional[float] = None,
        **query: Unpack[TopQuery],
    ) -> FeatureCollection: ...

    @overload
    async def top(
        self, source: str, by: str, bbox: BBox = WORLD, *, as_: ColumnForm, timeout: Optional[float] = None,
        **query: Unpack[TopQuery],
    ) -> Any: ...

    async def top(
        self, source: str, by: str, bbox: BBox = WORLD, *, as_: Form = "geojson", timeout: Optional[float] = None,
        **query: Unpack[TopQuery],
    ) -> Any:
        """The features in a box with the greatest values of an indexed property; after a `-` with the least. See `Client.clusters` for `as_`."""
        request = _requests.top(source, by, bbox, **query)
        if check_form(as_):
            return await self._columns(request, as_, timeout)
        return await self._run(request, timeout)

    async def histogram(
        self, source: str, property: str, bbox: BBox = WORLD, *, timeout: Optional[float] = None,
        **query: Unpack[HistogramQuery],
    ) -> Dict[str, Any]:
        """How the values of an indexed property are distributed in a box: with `bins` or `edges`, `edges` and `counts` as
        numpy.histogram's, and `below`, `above` and `missing`."""
        return await self._run(_requests.histogram(source, property, bbox, **query), timeout)

    async def grid(
        self, source: str, resolution: int, bbox: BBox = WORLD, *, timeout: Optional[float] = None,
        **query: Unpack[GridQuery],
    ) -> Dict[str, Any]:
        """The tiles of a zoom that touch a box and have points: `cells`, each with `x`, `y` and `point_count`."""
        return await self._run(_requests.grid(source, resolution, bbox, **query), timeout)

    def viewport(
        self, source: str, bbox: BBox = WORLD, zoom: float = 0, *, max_rate: Optional[float] = None,
        transitions: bool = True, frame: float = 0.016, **query: Unpack[ClusterQuery],
    ) -> AsyncViewport:
        """Watches a part of a map: an asynchronous iterator over what changes there. See `Viewport`."""
        return AsyncViewport(self, watch_params(source, bbox, zoom, max_rate, dict(query)), transitions, frame)

    # Sources

    async def create_source(
        self, source: str, options: Optional[Options] = None, *, timeout: Optional[float] = None
    ) -> Description:
        """Makes a source. Raises AlreadyExistsError if there is one of this name."""
        return await self._run(_requests.create_source(source, options), timeout)

    async def ensure_source(self, source: str, options: Optional[Options] = None) -> bool:
        """Makes a source, or gives the one that exists these options; whether it was made."""
        try:
            await self.create_source(source, options)
        except AlreadyExistsError:
            if options is not None:
                await self.update_options(source, options)
            return False
        return True

    async def import_features(
        self, source: str, features: Iterable[FeatureItem], *, mode: str = "replace", on_invalid: str = "reject",
        timeout: Optional[float] = None,
    ) -> Description:
        """Imports features: GeoJSON mappings, JSON text, or objects with a `__geo_interface__`. All or nothing."""
        return await self._import(source, batches(features), mode, on_invalid, timeout)

    async def _import(
        self, source: str, items: Iterable[bytes], mode: str, on_invalid: str, timeout: Optional[float]
    ) -> Description:
        params = {"source": source, "mode": mode, "onInvalid": on_invalid}
        return dict(await self.send_all("SourceService/ImportFeatures", params, items, timeout=timeout))

    async def from_arrow(
        self, source: str, table: Any, *, longitude: Optional[str] = None, latitude: Optional[str] = None,
        geometry: Optional[str] = None, id: Optional[str] = None, columns: Optional[Sequence[str]] = None,
        options: Optional[Options] = None, mode: str = "replace", on_invalid: str = "reject",
        timeout: Optional[float] = None,
    ) -> Description:
        """Fills a source from an Arrow table; see `Client.from_arrow`."""
        rows = table_items(table, longitude, latitude, geometry, id, columns, on_invalid)
        items = await asyncio.get_running_loop().run_in_executor(None, begun, rows)
        is_new = await self.ensure_source(source, options)
        try:
            description = await self._import(source, items, mode, on_invalid, timeout)
        except BaseException:
            # Otherwise a source that was made for this import would be left behind empty.
            if is_new:
                with contextlib.suppress(ClusterdError):
                    await self.delete_source(source)
            raise
        advise(description)
        return description

    async def from_dataframe(self, source: str, frame: Any, **arguments: Any) -> Description:
        """Fills a source from a DataFrame of pandas, GeoPandas or polars; see `Client.from_arrow`."""
        return await self.from_arrow(source, frame, **arguments)

    async def from_parquet(self, path: str, source: Optional[str] = None, **arguments: Any) -> Description:
        """Fills a source from a Parquet or GeoParquet file; its name is the file's without a `source`."""
        return await self.from_arrow(source or name_of(path), parquet_batches(path), **arguments)

    @overload
    def features(
        self, source: str, *, as_: Literal["geojson"] = "geojson", timeout: Optional[float] = None,
        **query: Unpack[FeatureQuery],
    ) -> AsyncIterator[Feature]: ...

    @overload
    def features(
        self, source: str, *, as_: ColumnForm, timeout: Optional[float] = None, **query: Unpack[FeatureQuery]
    ) -> Awaitable[Any]: ...

    def features(
        self, source: str, *, as_: Form = "geojson", timeout: Optional[float] = None, **query: Unpack[FeatureQuery]
    ) -> Any:
        """All features of a source as they were sent, of one revision. They are streamed, however many they are.

        With another `as_`, this is to be awaited; see `Client.clusters` for its values.
        """
        if check_form(as_):
            return self._columns(_requests.features(source, **query), as_, timeout)
        return self._features(source, timeout, dict(query))

    async def _features(self, source: str, timeout: Optional[float], query: Mapping[str, Any]) -> AsyncIterator[Feature]:
        params = {"source": source, **_requests.wire_names(query)}
        async with await self.stream("SourceService/GetFeatures", params, timeout=timeout) as pages:
            async for page in pages:
                for feature in page["features"]:
                    yield Feature(feature)

    async def load_file(
        self, source: str, path: str, *, mode: str = "replace", on_invalid: str = "reject",
        timeout: Optional[float] = None, **columns: Any,
    ) -> Description:
        """Lets the daemon read a file. `columns` are CSV's: longitude, latitude, id, text."""
        return await self._run(_requests.load_file(source, path, mode, on_invalid, **columns), timeout)

    async def update_features(
        self, source: str, upsert: Sequence[Mapping[str, Any]] = (), remove: Sequence[Union[int, float, str]] = (), *,
        timeout: Optional[float] = None,
    ) -> Description:
        """Puts in or replaces features by id, and removes others."""
        return await self._run(_requests.update_features(source, upsert, remove), timeout)

    async def apply_changes(
        self, source: str, log: str, changes: Callable[[Optional[str]], AsyncIterable[Mapping[str, Any]]], *,
        on_invalid: str = "reject",
    ) -> AsyncIterator[Dict[str, Any]]:
        """Applies a log's changes exactly once; see `Client.apply_changes`. `changes` gives an asynchronous iterable."""
        params, pause = {"source": source, "log": log, "onInvalid": on_invalid}, 0.1
        while True:
            try:
                async with await self.stream("SourceService/ApplyChanges", params) as stream:
                    position = (await stream.__anext__())["position"]
                    pause = 0.1
                    sender = asyncio.create_task(_send_changes(stream, changes(position)))
                    try:
                        async for answer in stream:
                            yield answer
                    except ClusterdError:
                        # An error of `changes` itself has cancelled the call.
                        if sender.done() and not sender.cancelled() and sender.exception() is not None:
                            sender.result()
                        raise
                    finally:
                        sender.cancel()
                        await asyncio.gather(sender, return_exceptions=True)
                    return
            except UnavailableError:
                await asyncio.sleep(pause)
                pause = min(30.0, 2 * pause)

    async def update_options(self, source: str, options: Options, *, timeout: Optional[float] = None) -> Description:
        """Gives a source other options: the complete set."""
        return await self._run(_requests.update_options(source, options), timeout)

    async def delete_source(self, source: str, *, timeout: Optional[float] = None) -> None:
        return await self._run(_requests.delete_source(source), timeout)

    async def get_source(self, source: str, *, timeout: Optional[float] = None) -> Description:
        return await self._run(_requests.get_source(source), timeout)

    async def list_sources(self, *, timeout: Optional[float] = None) -> List[Description]:
        return await self._run(_requests.list_sources(), timeout)

    async def evaluate(self, expression: Any, *, timeout: Optional[float] = None, **context: Any) -> Any:
        """The value of an expression; `context`: feature, zoom, accumulated, type."""
        return await self._run(_requests.evaluate(expression, **context), timeout)

    # The daemon

    async def check(self, *, timeout: Optional[float] = None) -> bool:
        """Whether the daemon serves."""
        return await self._run(_requests.check(), timeout)

    async def info(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Name, version, limits and methods."""
        return await self._run(_requests.info(), timeout)

    async def stats(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Counters, latencies, memory."""
        return await self._run(_requests.stats(), timeout)


class AsyncViewport:
    """A part of a map for asyncio: iterate over it for what changes there; see `Viewport`.

        async with client.viewport("cities", bbox, zoom) as view:
            async for change in view:
                ...  # elsewhere: await view.move(bbox, zoom)
    """

    def __init__(self, client: AsyncClient, params: Dict[str, Any], transitions: bool, frame: float) -> None:
        self._client, self._params, self._transitions = client, params, transitions
        self._queue, self._pace = MarkerQueue(), Pace(frame)
        self._queue.center = center(params["bbox"])
        self._stream: Optional[AsyncStream] = None

    @property
    def markers(self) -> Dict[str, Marker]:
        """What the app has been given, by key."""
        return dict(self._queue.given)

    async def move(self, bbox: BBox, zoom: float, **restrictions: Unpack[Restrictions]) -> None:
        """Moves the viewport, and replaces its `window` and `pin`; see `Viewport.move`."""
        item = moved(self._params, bbox, zoom, restrictions)
        self._queue.center = center(bbox)
        if self._stream is not None:
            await self._stream.send(item)

    async def __aiter__(self) -> AsyncIterator[Change]:
        if self._stream is None:
            await self._open()
        ended = False
        while True:
            while not ended and (self._stream.is_ready or not self._queue):  # type: ignore[union-attr]
                ended = not await self._receive()
                if not ended and not self._queue:
                    break
            change = self._queue.take(self._pace.batch)
            if ended and not len(change):
                return
            start = time.monotonic()
            yield change
            taken = time.monotonic() - start
            self._pace.took(taken, len(change))
            if self._queue:
                await asyncio.sleep(max(0.0, self._pace.frame - taken))

    async def _open(self) -> None:
        params = {**self._params, "transitions": True} if self._transitions else self._params
        self._stream = await self._client.stream("ClusterService/WatchClusters", params)

    async def _receive(self) -> bool:
        """Takes in the next item; False at the stream's end."""
        assert self._stream is not None
        try:
            self._queue.apply(await self._stream.__anext__())
        except StopAsyncIteration:
            return False
        except InvalidArgumentError as error:
            if not self._transitions or not lacks_transitions(error):
                raise
            self._transitions = False
            await self._open()
            return await self._receive()
        return True

    async def end(self) -> None:
        """Ends the watching; the iteration ends after what waits."""
        if self._stream is not None:
            await self._stream.end()

    async def close(self) -> None:
        if self._stream is not None:
            await self._stream.close()

    async def __aenter__(self) -> AsyncViewport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

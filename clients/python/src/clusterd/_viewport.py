# SPDX-License-Identifier: MIT
"""A part of a map that is watched."""
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, Optional

from ._errors import InvalidArgumentError
from ._markers import Change, Marker, MarkerQueue, Pace
from ._requests import wire_names
from ._types import BBox

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._client import Client, Stream
    from ._types import Restrictions


def watch_params(
    source: str, bbox: BBox, zoom: float, max_rate: Optional[float], query: Dict[str, Any]
) -> Dict[str, Any]:
    """The params that open WatchClusters."""
    params = {"source": source, "bbox": list(bbox), "zoom": zoom, **wire_names(query)}
    if max_rate is not None:
        params["maxRateHz"] = max_rate
    return params


def moved(params: Dict[str, Any], bbox: BBox, zoom: float, restrictions: Mapping[str, Any]) -> Dict[str, Any]:
    """The item that moves a viewport; `params` then open it where it is."""
    item = {"bbox": list(bbox), "zoom": zoom, **restrictions}
    params.update(item)
    for name in [name for name, value in restrictions.items() if value is None]:
        del params[name]
    return item


def lacks_transitions(error: InvalidArgumentError) -> bool:
    """Whether the daemon is one that does not know the param `transitions`."""
    return error.details.get("param") == "params.transitions"


def center(bbox: BBox) -> "tuple[float, float]":
    west, south, east, north = bbox
    return (west + (east if east >= west else east + 360)) / 2, (south + north) / 2


class Viewport:
    """A part of a map: iterate over it for what changes there.

        with client.viewport("cities", bbox, zoom) as view:
            for change in view:
                ...  # elsewhere: view.move(bbox, zoom)

    Markers keep their keys over zooms and revisions, and say what they come from and go into. Each change has as
    many markers as the app takes on within half a frame; what comes and goes meanwhile is left out. A daemon without
    transitions gives keys that stay while a marker shows the same. Any thread may move it; one iterates.
    """

    def __init__(
        self, client: Client, source: str, bbox: BBox, zoom: float, max_rate: Optional[float], transitions: bool,
        frame: float, query: Dict[str, Any],
    ) -> None:
        self._client, self._params = client, watch_params(source, bbox, zoom, max_rate, query)
        self._queue, self._pace = MarkerQueue(), Pace(frame)
        self._queue.center = center(bbox)
        self._opens = transitions
        self._stream = self._open(transitions)

    def _open(self, transitions: bool) -> Stream:
        params = {**self._params, "transitions": True} if transitions else self._params
        return self._client.stream("ClusterService/WatchClusters", params)

    @property
    def markers(self) -> Dict[str, Marker]:
        """What the app has been given, by key."""
        return dict(self._queue.given)

    def move(self, bbox: BBox, zoom: float, **restrictions: Unpack[Restrictions]) -> None:
        """Moves the viewport; what is shown there comes as changes. `window` and `pin` replace those that it has, None
        removes them, and left out they stay."""
        item = moved(self._params, bbox, zoom, restrictions)
        self._queue.center = center(bbox)
        self._stream.send(item)

    def __iter__(self) -> Iterator[Change]:
        while True:
            ended = not self._queue and not self._receive()
            while not ended and self._stream.is_ready():
                ended = not self._receive()
            change = self._queue.take(self._pace.batch)
            if ended and not len(change):
                return
            start = time.monotonic()
            yield change
            taken = time.monotonic() - start
            self._pace.took(taken, len(change))
            if self._queue and not ended and taken < self._pace.frame:
                self._stream.is_ready(self._pace.frame - taken)

    def _receive(self) -> bool:
        """Takes in the next item; False at the stream's end."""
        try:
            item = next(self._stream, None)
        except InvalidArgumentError as error:
            if not self._opens or not lacks_transitions(error):
                raise
            self._opens = False
            self._stream = self._open(transitions=False)
            return self._receive()
        self._opens = False
        if item is None:
            return False
        self._queue.apply(item)
        return True

    def end(self) -> None:
        """Ends the watching; the iteration ends after what waits."""
        self._stream.end()

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Viewport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

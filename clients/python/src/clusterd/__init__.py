# SPDX-License-Identifier: MIT
"""A client of clusterd, the daemon that clusters points for maps.

    import clusterd

    client = clusterd.connect()
    places = client.from_parquet("places.parquet")
    for feature in places.clusters(bbox=[-10, 35, 20, 55], zoom=5).features:
        print(feature.count, feature.coordinates)
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from ._async import AsyncClient, AsyncStream, AsyncViewport
from ._client import Client, Stream
from ._connection import Connection
from ._errors import (
    AbortedError,
    AlreadyExistsError,
    ClusterdError,
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    Status,
    UnavailableError,
)
from ._loading import DataWarning
from ._markers import Change, Marker, Removed
from ._results import Feature, FeatureCollection
from ._source import Source
from ._types import WORLD
from ._viewport import Viewport

if TYPE_CHECKING:
    from ._widget import Map as Map

__version__ = "1.0.0"


def connect(path: Optional[str] = None, **arguments: Any) -> Client:
    """A client of the daemon, which must answer; see `Client`."""
    client = Client(path, **arguments)
    client.check()
    return client


def __getattr__(name: str) -> Any:
    """`Map` needs the packages of the extra `notebook`, so it is imported when it is first asked for."""
    if name == "Map":
        from ._widget import Map

        return Map
    raise AttributeError(f"module 'clusterd' has no attribute {name!r}")


__all__ = [
    "AbortedError", "AlreadyExistsError", "AsyncClient", "AsyncStream", "AsyncViewport", "Change", "Client",
    "ClusterdError", "Connection", "DataWarning", "DeadlineExceededError", "Feature", "FeatureCollection", "InvalidArgumentError",
    "Marker", "NotFoundError", "PermissionDeniedError", "Removed", "Source", "Status", "Stream", "UnavailableError",
    "Viewport", "WORLD", "connect",
]

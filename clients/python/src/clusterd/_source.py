# SPDX-License-Identifier: MIT
"""One source of a client."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

from ._map import page
from ._results import Feature, FeatureCollection
from ._types import WORLD, BBox

if TYPE_CHECKING:
    from ._client import Client
    from ._viewport import Viewport


class Source:
    """The calls about one source. In a notebook it shows itself on a map."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name

    def clusters(self, bbox: BBox = WORLD, zoom: float = 0, **query: Any) -> Any:
        """The clusters and points in a box at a zoom; `as_` is what they come as, see `Client.clusters`."""
        return self.client.clusters(self.name, bbox, zoom, **query)

    def children(self, cluster: int, **query: Any) -> FeatureCollection:
        """A cluster's children on the zoom at which it separates."""
        return self.client.children(self.name, cluster, **query)

    def leaves(self, cluster: int, limit: int = 10, offset: int = 0, **query: Any) -> Any:
        """A page of a cluster's points; a limit of 0 is all."""
        return self.client.leaves(self.name, cluster, limit, offset, **query)

    def features(self, **query: Any) -> Any:
        """All features as they were sent; see `Client.features`."""
        return self.client.features(self.name, **query)

    def hull(self, cluster: int, **query: Any) -> Feature:
        """The smallest convex shape around a cluster's points."""
        return self.client.hull(self.name, cluster, **query)

    def top(self, by: str, bbox: BBox = WORLD, **query: Any) -> Any:
        """The features in a box with the greatest values of an indexed property; after a `-` with the least."""
        return self.client.top(self.name, by, bbox, **query)

    def histogram(self, property: str, bbox: BBox = WORLD, **query: Any) -> Dict[str, Any]:
        """How the values of an indexed property are distributed in a box, with `bins` or `edges`."""
        return self.client.histogram(self.name, property, bbox, **query)

    def grid(self, resolution: int, bbox: BBox = WORLD, **query: Any) -> Dict[str, Any]:
        """How many points lie in each tile of a zoom that touches a box."""
        return self.client.grid(self.name, resolution, bbox, **query)

    def viewport(self, bbox: BBox = WORLD, zoom: float = 0, **arguments: Any) -> Viewport:
        """Watches a part of the source."""
        return self.client.viewport(self.name, bbox, zoom, **arguments)

    def describe(self) -> Dict[str, Any]:
        """Options, points, revision, box, memory."""
        return self.client.get_source(self.name)

    def delete(self) -> None:
        self.client.delete_source(self.name)

    def map(self, filter: Optional[Any] = None, height: int = 480) -> "MapView":
        """A live map for a notebook; the daemon must serve HTTP."""
        return MapView(self, filter, height)

    def __len__(self) -> int:
        return int(self.describe()["points"])

    def __repr__(self) -> str:
        return f"<clusterd source {self.name!r}>"

    def _repr_html_(self) -> str:
        return self.map()._repr_html_()


class MapView:
    """A source on the daemon's map page."""

    def __init__(self, source: Source, filter: Optional[Any], height: int) -> None:
        self._source, self._filter, self._height = source, filter, height

    def _repr_html_(self) -> str:
        client, name = self._source.client, self._source.name
        shown = page(client, name, self._filter, self._height)
        return shown if shown is not None else self._source.clusters(zoom=2, filter=self._filter)._repr_html_()

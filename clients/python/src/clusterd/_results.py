# SPDX-License-Identifier: MIT
"""What calls answer: dictionaries as the daemon sent them, with names for their members."""
from __future__ import annotations

import html
import math
from typing import Any, Dict, List, Optional, Tuple


class Feature(Dict[str, Any]):
    """A cluster or a point: the GeoJSON Feature as the daemon sent it."""

    @property
    def id(self) -> Any:
        """The feature's id, or the cluster's."""
        return self.get("id")

    @property
    def properties(self) -> Dict[str, Any]:
        return self.get("properties") or {}

    @property
    def is_cluster(self) -> bool:
        return self.properties.get("cluster") is True

    @property
    def count(self) -> int:
        """How many points it stands for; 1 for a point."""
        return int(self.properties["point_count"]) if self.is_cluster else 1

    @property
    def coordinates(self) -> Any:
        """Its longitude and latitude; for a hull its corners."""
        return (self.get("geometry") or {}).get("coordinates")

    @property
    def __geo_interface__(self) -> Dict[str, Any]:
        return dict(self)

    def _position(self) -> Tuple[float, float]:
        position = self.coordinates
        return float(position[0]), float(position[1])


class FeatureCollection(Dict[str, Any]):
    """An answer with features: the GeoJSON FeatureCollection as the daemon sent it."""

    @property
    def features(self) -> List[Feature]:
        return [Feature(feature) for feature in self["features"]]

    @property
    def revision(self) -> int:
        """The number of the data that produced the answer."""
        return int(self["revision"])

    @property
    def position(self) -> Optional[str]:
        """Where the data are in the log of the table that the source follows; None if it follows none."""
        return self.get("position")

    @property
    def truncated(self) -> bool:
        """Whether the limit left out features."""
        return bool(self.get("truncated", False))

    @property
    def total(self) -> Optional[int]:
        """Of leaves: how many there are."""
        return self.get("total")

    @property
    def __geo_interface__(self) -> Dict[str, Any]:
        return {"type": "FeatureCollection", "features": self["features"]}

    def _repr_html_(self) -> str:
        return _drawing(self.features)


def _drawing(features: List[Feature]) -> str:
    """The features as circles in an SVG, in Web Mercator."""
    shapes = [(feature, *_project(*feature._position())) for feature in features]
    if not shapes:
        return "<p>no features</p>"
    left, right = min(x for _, x, _ in shapes), max(x for _, x, _ in shapes)
    top, bottom = min(y for _, _, y in shapes), max(y for _, _, y in shapes)
    scale = 560 / max(right - left, (bottom - top) * 1.5, 1e-9)
    width, height = (right - left) * scale + 80, (bottom - top) * scale + 80
    circles = "".join(
        _circle(feature, (x - left) * scale + 40, (y - top) * scale + 40) for feature, x, y in shapes
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="sans-serif" font-size="11" text-anchor="middle">{circles}</svg>'
    )


def _circle(feature: Feature, x: float, y: float) -> str:
    size = 4 + 4 * math.log10(feature.count) if feature.is_cluster else 3
    text = html.escape(str(feature.properties.get("point_count_abbreviated", "")))
    label = f'<text x="{x:.1f}" y="{y + 4:.1f}">{text}</text>' if feature.is_cluster else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size + 4:.1f}" fill="#4a90d9" fill-opacity="0.6"/>{label}'


def _project(longitude: float, latitude: float) -> Tuple[float, float]:
    sine = max(-0.9999, min(0.9999, math.sin(math.radians(latitude))))
    return longitude / 360 + 0.5, 0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)



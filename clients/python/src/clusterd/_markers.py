# SPDX-License-Identifier: MIT
"""What a viewport shows, what the app has of it, and how fast the app takes it. No socket, no clock."""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._errors import protocol_error
from ._results import Feature

Position = Tuple[float, float]


@dataclass(frozen=True)
class Marker:
    """A cluster or a point with its identity."""

    #: Stays the same for as long as the marker does.
    key: str
    feature: Feature
    #: The key of the marker that it comes out of, and where that was; None if there is no such marker.
    comes_from: Optional[str] = None
    start: Optional[Position] = None


@dataclass(frozen=True)
class Removed:
    """A marker that goes."""

    key: str
    #: The key of the marker that absorbs it, and where that is; None if there is no such marker.
    into: Optional[str] = None
    end: Optional[Position] = None


@dataclass
class Change:
    """What the app does next: as much as it takes on within part of a frame, nearest to the centre first."""

    removed: List[Removed] = field(default_factory=list)
    added: List[Marker] = field(default_factory=list)
    #: Markers that the app has, which now show something else.
    updated: List[Marker] = field(default_factory=list)
    #: Whether the app has everything now.
    is_complete: bool = False
    #: The number of the newest data.
    revision: int = 0

    def __len__(self) -> int:
        return len(self.removed) + len(self.added) + len(self.updated)


class MarkerQueue:
    """The difference between what is to be shown and what the app has."""

    def __init__(self) -> None:
        #: What is to be shown, by key.
        self.shown: Dict[str, Marker] = {}
        #: What the app has, by key.
        self.given: Dict[str, Marker] = {}
        self._waiting: Dict[str, Optional[Removed]] = {}
        self._order: List[str] = []
        self.revision = 0
        self.center: Position = (0.0, 0.0)

    def __len__(self) -> int:
        return len(self._waiting)

    def apply(self, item: Any) -> None:
        """Takes in an item of WatchClusters. Raises INTERNAL for one that does not fit those before."""
        try:
            self._apply(item)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise protocol_error(f"an item that is not a change of a viewport ({error!r})") from None

    def _apply(self, item: Mapping[str, Any]) -> None:
        origins = [value["from"] for value in item["add"] if value.get("from")]
        before = {key: self.shown.get(key) for key in origins}
        removed = [value if isinstance(value, dict) else {"key": value} for value in item["remove"]]
        gone = [(self.shown.pop(value["key"]), value.get("into")) for value in removed]
        for value in item["add"]:
            source = value.get("from")
            origin = before.get(source) if source else None
            start = origin.feature._position() if origin else None
            self._show(value, source if origin else None, start)
        for value in item.get("update", ()):
            self._show(value, None, None)
        for marker, into in gone:
            target = self.shown.get(into) if into else None
            end = target.feature._position() if target else None
            self._waiting[marker.key] = Removed(marker.key, into if target else None, end)
        count, kept = len(self.shown), item["keep"] + len(item["add"])
        if count not in (kept, kept + len(item.get("update", ()))):
            raise ValueError(f"{count} markers are shown, not {kept}")
        self.revision = int(item["revision"])
        self._order = []

    def _show(self, value: Mapping[str, Any], comes_from: Optional[str], start: Optional[Position]) -> None:
        feature = Feature({name: member for name, member in value.items() if name not in ("key", "from")})
        feature._position()
        key = value["key"]
        waiting = self.shown.get(key) if key in self._waiting else None
        if waiting is not None and start is None:
            comes_from, start = waiting.comes_from, waiting.start
        self.shown[key] = Marker(key, feature, comes_from, start)
        self._waiting[key] = None

    def take(self, most: int) -> Change:
        """The next part of the difference: at most so many markers, nearest to the centre first."""
        change = Change(revision=self.revision)
        if not self._order:
            self._order = sorted(self._waiting, key=self._distance, reverse=True)
        while self._order and len(change) < most:
            self._take(self._order.pop(), change)
        change.is_complete = not self._waiting
        return change

    def _take(self, key: str, change: Change) -> None:
        removed = self._waiting.pop(key)
        old, new = self.given.get(key), self.shown.get(key)
        if new is None:
            if old is not None:
                del self.given[key]
                change.removed.append(removed or Removed(key))
            return
        self.given[key] = new
        if old is None:
            change.added.append(new)
        elif old.feature != new.feature:
            change.updated.append(new)

    def _distance(self, key: str) -> float:
        marker = self.shown.get(key) or self.given.get(key)
        longitude, latitude = marker.feature._position() if marker else self.center
        across = (longitude - self.center[0] + 180) % 360 - 180
        return (across * math.cos(math.radians(latitude))) ** 2 + (latitude - self.center[1]) ** 2


class Pace:
    """How many markers the app takes on within part of a frame, learnt through a low-pass filter."""

    SMOOTHING, SHARE, MOST = 0.2, 0.5, 1000

    def __init__(self, frame: float) -> None:
        self.frame = frame
        self._cost = 0.0002  # seconds a marker, until the app has shown what it takes

    @property
    def batch(self) -> int:
        if self._cost <= 0:
            return self.MOST
        return max(1, min(self.MOST, int(self.frame * self.SHARE / self._cost)))

    def took(self, seconds: float, markers: int) -> None:
        """The app has taken on so many markers. A pause of more than a second counts as one second."""
        if markers > 0:
            self._cost += self.SMOOTHING * (min(max(0.0, seconds), 1.0) / markers - self._cost)

# SPDX-License-Identifier: MIT
"""Features as the items of an import."""
from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Mapping, Union

from ._frames import to_json

#: How many bytes of features an item has: large enough that frames cost nothing, small enough to overlap.
ITEM_BYTES = 1 << 20

FeatureItem = Union[Mapping[str, Any], bytes, str, Any]


def batches(features: Iterable[FeatureItem]) -> Iterator[bytes]:
    """The items of an import of features."""
    held: List[bytes] = []
    size = 0
    for feature in features:
        text = feature_text(feature)
        held.append(text)
        size += len(text) + 1
        if size >= ITEM_BYTES:
            yield item_text(b",".join(held))
            held, size = [], 0
    if held:
        yield item_text(b",".join(held))


def item_text(features: "bytes | memoryview") -> bytes:
    """An item from features' JSON with commas between them."""
    return b"".join((b'{"features":[', features, b"]}"))


def feature_text(feature: FeatureItem) -> bytes:
    """A feature's JSON: from a mapping, JSON text, or an object with a `__geo_interface__`."""
    if isinstance(feature, bytes):
        return feature
    if isinstance(feature, str):
        return feature.encode()
    if not isinstance(feature, Mapping) and hasattr(feature, "__geo_interface__"):
        feature = feature.__geo_interface__
        if feature.get("type") not in ("Feature", "FeatureCollection"):
            feature = {"type": "Feature", "geometry": feature, "properties": None}
    return to_json(feature)

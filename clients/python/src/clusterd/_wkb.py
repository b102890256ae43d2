# SPDX-License-Identifier: MIT
"""Well-known binary (OGC 06-103r4, and the extended form of PostGIS) to GeoJSON geometries."""
from __future__ import annotations

import struct
from typing import Any, Dict, List, Tuple

_NAMES = {1: "Point", 2: "LineString", 3: "Polygon", 4: "MultiPoint", 5: "MultiLineString", 6: "MultiPolygon"}
_COLLECTION = 7
_HAS_Z, _HAS_M, _HAS_SRID = 1 << 31, 1 << 30, 1 << 29
_DEEPEST = 16


def geometry(data: bytes) -> Dict[str, Any]:
    """The GeoJSON geometry. Raises ValueError for bytes that are not well-known binary."""
    try:
        found, stop = _read(data, 0, 0)
    except struct.error as error:
        raise ValueError(f"a geometry of {len(data)} bytes is cut: {error}") from None
    if stop != len(data):
        raise ValueError(f"a geometry has {len(data) - stop} bytes behind its end")
    return found


def _read(data: bytes, at: int, depth: int) -> Tuple[Dict[str, Any], int]:
    order = "<" if data[at : at + 1] == b"\1" else ">"
    (code,) = struct.unpack_from(order + "I", data, at + 1)
    at += 9 if code & _HAS_SRID else 5
    has = (code & 0x0FFFFFFF) // 1000
    size = 2 + bool(code & _HAS_Z or has in (1, 3)) + bool(code & _HAS_M or has in (2, 3))
    kind = (code & 0x0FFFFFFF) % 1000
    if depth > _DEEPEST or (kind not in _NAMES and kind != _COLLECTION):
        raise ValueError(f"a geometry of the unknown type {code}")
    if kind == 1:
        position, at = _positions(data, at, order, size, 1)
        return {"type": "Point", "coordinates": position[0] if position[0][0] == position[0][0] else []}, at
    count, at = _count(data, at, order)
    if kind == 2:
        line, at = _positions(data, at, order, size, count)
        return {"type": "LineString", "coordinates": line}, at
    parts: List[Any] = []
    for _ in range(count):
        if kind == 3:
            length, at = _count(data, at, order)
            ring, at = _positions(data, at, order, size, length)
            parts.append(ring)
        else:
            part, at = _read(data, at, depth + 1)
            parts.append(part)
    if kind == _COLLECTION:
        return {"type": "GeometryCollection", "geometries": parts}, at
    return {"type": _NAMES[kind], "coordinates": parts if kind == 3 else [p["coordinates"] for p in parts]}, at


def _count(data: bytes, at: int, order: str) -> Tuple[int, int]:
    (count,) = struct.unpack_from(order + "I", data, at)
    if count > len(data):
        raise ValueError(f"a geometry says that it has {count} parts, in {len(data)} bytes")
    return count, at + 4


def _positions(data: bytes, at: int, order: str, size: int, count: int) -> Tuple[List[List[float]], int]:
    stop = at + 8 * size * count
    if stop > len(data):
        raise ValueError("a geometry is cut")
    numbers = struct.unpack_from(f"{order}{size * count}d", data, at)
    return [list(numbers[i : i + size][:3]) for i in range(0, len(numbers), size)], stop

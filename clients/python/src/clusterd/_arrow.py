# SPDX-License-Identifier: MIT
"""Arrow tables as GeoJSON text, column by column: no Python object is made for a row."""
from __future__ import annotations

import json
import math
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Deque, Iterable, Iterator, List, Mapping, Optional, Sequence

from . import _wkb
from ._errors import Status, make_error
from ._features import item_text
from ._frames import to_json

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:  # pragma: no cover - depends on the installation
    raise ImportError("this needs pyarrow: pip install 'clusterd[arrow]'") from error

#: Rows that are encoded at once: a few hundred KiB to some MiB of text.
ROWS = 16_384
LONGITUDES = ("longitude", "lon", "lng", "long", "x")
LATITUDES = ("latitude", "lat", "y")
_POINT = b"\x01\x01\x00\x00\x00"


def items(
    table: Any, longitude: Optional[str], latitude: Optional[str], geometry: Optional[str], id: Optional[str],
    columns: Optional[Sequence[str]], on_invalid: str = "skip",
) -> Iterator[bytes]:
    """The items of an import of a pyarrow Table, RecordBatch or RecordBatchReader. Encodes on several threads.

    Unless `on_invalid` is "skip", a row without a position is an error that names it.
    """
    layout: Optional[Layout] = None
    row = 0
    workers = min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        waiting: Deque[Future[bytes]] = deque()
        for batch in _batches(table):
            layout = layout or Layout(batch.schema, longitude, latitude, geometry, id, columns)
            waiting.append(pool.submit(layout.encode, batch, None if on_invalid == "skip" else row))
            row += batch.num_rows
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _batches(table: Any) -> Iterator[Any]:
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    elif not hasattr(table, "to_batches") and not isinstance(table, pa.RecordBatchReader):
        table = pa.RecordBatchReader.from_stream(table)
    for batch in table.to_batches() if hasattr(table, "to_batches") else table:
        for start in range(0, batch.num_rows, ROWS):
            yield batch.slice(start, ROWS)


class Layout:
    """Which columns are the position, the id and the properties."""

    def __init__(
        self, schema: Any, longitude: Optional[str], latitude: Optional[str], geometry: Optional[str],
        id: Optional[str], columns: Optional[Sequence[str]],
    ) -> None:
        self._geo = _GeoMetadata(schema)
        named = _column(schema.names, geometry, ()) if geometry else None
        self.geometry = named or (None if longitude or latitude else self._geo.column(schema.names))
        self.longitude = self.latitude = None
        if self.geometry is None:
            self.longitude = _column(schema.names, longitude, LONGITUDES)
            self.latitude = _column(schema.names, latitude, LATITUDES)
        else:
            self._geo.check_crs(self.geometry)
        self.id = _column(schema.names, id, ()) if id else ("id" if "id" in schema.names else None)
        taken = {self.geometry, self.longitude, self.latitude, self.id, *self._geo.other_columns()}
        known = [name for name in schema.names if name not in taken]
        self.properties = known if columns is None else [_column(schema.names, name, ()) for name in columns]

    def encode(self, batch: Any, first_row: Optional[int] = None) -> bytes:
        """The rows as an item, a line for each: one array of texts, whose bytes are the JSON already.

        With the number of the batch's first row, each row must have a position.
        """
        if first_row is not None:
            self._check_positions(batch, first_row)
        pieces: List[Any] = [',\n{"type":"Feature"']
        if self.id is not None:
            pieces.append(_member("id", batch.column(batch.schema.get_field_index(self.id))))
        pieces += [',"geometry":', self._geometries(batch), ',"properties":']
        pieces += [self._objects(batch), "}"]
        rows = _join(pieces)
        _, offsets, text = rows.buffers()
        first, last = (_offset(offsets, rows.offset + at, rows.type) for at in (0, len(rows)))
        return item_text(memoryview(text)[first + 2 : last])

    def _check_positions(self, batch: Any, first_row: int) -> None:
        for name in [self.geometry] if self.geometry else [self.longitude, self.latitude]:
            column = _storage(batch.column(batch.schema.get_field_index(name)))
            is_good = pc.is_finite(column) if pa.types.is_floating(column.type) else pc.is_valid(column)
            index = pc.index(pc.fill_null(is_good, False), False).as_py()
            if index >= 0:
                raise make_error(
                    Status.INVALID_ARGUMENT,
                    f"row {first_row + index} has no position: column '{name}' is {column[index].as_py()}; "
                    "on_invalid=\"skip\" leaves such rows out",
                )

    def _geometries(self, batch: Any) -> Any:
        if self.geometry is None:
            index = batch.schema.get_field_index
            return _points(batch.column(index(self.longitude)), batch.column(index(self.latitude)))
        column = _storage(batch.column(batch.schema.get_field_index(self.geometry)))
        if pa.types.is_struct(column.type):  # GeoArrow's separated points
            return _points(column.field("x"), column.field("y"), column)
        if pa.types.is_fixed_size_list(column.type):  # GeoArrow's interleaved points
            return _points(pc.list_element(column, 0), pc.list_element(column, 1), column)
        return _wkb_geometries(column)

    def _objects(self, batch: Any) -> Any:
        members = [_member(name, batch.column(batch.schema.get_field_index(name))) for name in self.properties]
        if not members:
            return "{}"
        joined = _join(members)
        return _join(["{", pc.utf8_slice_codeunits(joined, 1), "}"])


class _GeoMetadata:
    """What a GeoParquet file says of its columns."""

    def __init__(self, schema: Any) -> None:
        text = (schema.metadata or {}).get(b"geo")
        self._geo: Mapping[str, Any] = json.loads(text) if text else {}
        self._columns: Mapping[str, Any] = self._geo.get("columns", {})
        self._extensions = {
            field.name: field for field in schema
            if (field.metadata or {}).get(b"ARROW:extension:name", b"").startswith((b"geoarrow.", b"ogc.wkb"))
            or str(getattr(field.type, "extension_name", "")).startswith("geoarrow.")
        }

    def column(self, names: Iterable[str]) -> Optional[str]:
        primary = self._geo.get("primary_column")
        return primary or next((name for name in names if name in self._extensions), None)

    def other_columns(self) -> List[str]:
        """Geometries and the boxes that cover them: no properties."""
        boxes = [column.get("covering", {}).get("bbox", {}).get("xmin", [None])[0] for column in self._columns.values()]
        return [*self._columns, *self._extensions, *(box for box in boxes if box)]

    def check_crs(self, name: str) -> None:
        crs = self._columns.get(name, {}).get("crs")
        if crs is None:
            return
        identifier = crs.get("id", {}) if isinstance(crs, dict) else {}
        code = f"{identifier.get('authority')}:{identifier.get('code')}"
        if code not in ("OGC:CRS84", "EPSG:4326", "OGC:CRS84h", "EPSG:4979"):
            raise make_error(
                Status.INVALID_ARGUMENT,
                f"column '{name}' is in {crs.get('name', code) if isinstance(crs, dict) else crs}: clusterd needs "
                "longitude and latitude; reproject it first, in GeoPandas by to_crs(4326)",
            )


def _column(names: Sequence[str], name: Optional[str], usual: Sequence[str]) -> str:
    """The column of a name, or the first of the usual ones in any letter case."""
    lower = {known.lower(): known for known in reversed(names)}
    found = (name if name in names else None) if name else next((lower[n] for n in usual if n in lower), None)
    if found is None:
        what = f"named '{name}'" if name else f"named {' or '.join(usual)}"
        raise make_error(
            Status.INVALID_ARGUMENT,
            f"there is no column {what}; there are {', '.join(names)}",
        )
    return found


def _storage(column: Any) -> Any:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _join(pieces: Sequence[Any]) -> Any:
    """The pieces of each row, one after another; null is nothing."""
    return pc.binary_join_element_wise(*pieces, "", null_handling="replace", null_replacement="")


def _offset(buffer: Any, index: int, type: Any) -> int:
    width = 8 if pa.types.is_large_string(type) else 4
    return int.from_bytes(memoryview(buffer)[index * width : (index + 1) * width], "little", signed=True)


def _points(x: Any, y: Any, whole: Any = None) -> Any:
    """Point geometries; `null` for a row without a finite position."""
    x, y = (pc.cast(_storage(column), pa.float64()) for column in (x, y))
    texts = _join(['{"type":"Point","coordinates":[', pc.cast(x, pa.string()), ",", pc.cast(y, pa.string()), "]}"])
    good = pc.and_(pc.is_finite(x), pc.is_finite(y))
    if whole is not None and whole.null_count:
        good = pc.and_(good, pc.is_valid(whole))
    return pc.if_else(pc.fill_null(good, False), texts, "null")


def _wkb_geometries(column: Any) -> Any:
    column = pc.cast(column, pa.binary())
    points = pc.and_(pc.equal(pc.binary_length(column), 21), pc.equal(pc.binary_slice(column, 0, 5), _POINT))
    if column.null_count or not pc.all(points).as_py():
        return pa.array([_geometry(value) for value in column.to_pylist()], pa.string())
    return _points(_doubles(pc.binary_slice(column, 5, 13)), _doubles(pc.binary_slice(column, 13, 21)))


def _geometry(value: Optional[bytes]) -> str:
    if value is None:
        return "null"
    found = _wkb.geometry(value)
    try:
        return to_json(found).decode()
    except ValueError:  # a coordinate that is not finite
        return "null"


def _doubles(column: Any) -> Any:
    """Eight little-endian bytes a row as numbers, without copying."""
    data = column.buffers()[2]
    return pa.Array.from_buffers(pa.float64(), len(column), [None, data])


def _member(name: str, column: Any) -> Any:
    """`,"name":value` of each row; null where the value is."""
    values = _values(_storage(column))
    return pc.binary_join_element_wise("," + json.dumps(name, ensure_ascii=False) + ":", values, "")


def _values(column: Any) -> Any:
    """JSON values of a column; null where there is none. NaN and infinity are no values."""
    kind = column.type
    types = pa.types
    if types.is_dictionary(kind):
        return pc.take(_values(column.dictionary), column.indices)
    if types.is_boolean(kind) or types.is_integer(kind):
        return pc.cast(column, pa.string())
    if types.is_floating(kind):
        column = pc.cast(column, pa.float64()) if types.is_float16(kind) else column
        return pc.cast(pc.if_else(pc.is_finite(column), column, None), pa.string())
    if types.is_string(kind) or types.is_large_string(kind):
        return _strings(pc.cast(column, pa.string()))
    if types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if types.is_decimal(kind):
        return pc.cast(column, pa.string())
    if types.is_date(kind) or types.is_time(kind):
        return _strings(pc.cast(column, pa.string()))
    return pa.array([_nested(value) for value in column.to_pylist()], pa.string())


def _strings(column: Any) -> Any:
    if pc.any(pc.match_substring_regex(column, r'["\\\x00-\x1f]')).as_py():
        column = pc.replace_substring(pc.replace_substring(column, "\\", "\\\\"), '"', '\\"')
        if pc.any(pc.match_substring_regex(column, r"[\x00-\x1f]")).as_py():
            for code in range(32):
                column = pc.replace_substring(column, chr(code), f"\\u{code:04x}")
    return pc.binary_join_element_wise('"', column, '"', "")


def _nested(value: Any) -> Optional[str]:
    """Lists, structs, timestamps and others, row by row."""
    if value is None:
        return None
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=_plain)


def _finite(value: Any) -> Any:
    """The value with null for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)



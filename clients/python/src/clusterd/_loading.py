# SPDX-License-Identifier: MIT
"""Tables into sources."""
from __future__ import annotations

import contextlib
import itertools
import os
import warnings
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Optional, Sequence

from ._errors import ClusterdError
from ._requests import Description
from ._types import Options

if TYPE_CHECKING:
    from ._source import Source


def table_items(
    table: Any, longitude: Optional[str], latitude: Optional[str], geometry: Optional[str], id: Optional[str],
    columns: Optional[Sequence[str]], on_invalid: str = "skip",
) -> Iterator[bytes]:
    """The items of an import of an Arrow table or anything that gives one: a DataFrame of pandas, GeoPandas or polars."""
    from . import _arrow

    return _arrow.items(arrow_table(table), longitude, latitude, geometry, id, columns, on_invalid)


def begun(items: Iterator[bytes]) -> Iterator[bytes]:
    """The items, the first of which has been made: what refuses a table does so before a source is made for it."""
    first = list(itertools.islice(items, 1))
    return itertools.chain(first, items)


def arrow_table(table: Any) -> Any:
    from ._arrow import pa

    if hasattr(table, "to_wkb") and hasattr(table, "active_geometry_name"):  # GeoPandas
        table, name = _longitude_latitude(table), table.active_geometry_name
        found = pa.Table.from_pandas(table.to_wkb(), preserve_index=False)
        return found.replace_schema_metadata({b"geo": b'{"primary_column":"%s"}' % name.encode()})
    if hasattr(table, "iloc") and hasattr(table, "columns"):  # pandas
        return pa.Table.from_pandas(table, preserve_index=False)
    if hasattr(table, "to_arrow"):  # polars, DuckDB
        return table.to_arrow()
    return table


def _longitude_latitude(table: Any) -> Any:
    return table.to_crs(4326) if table.crs is not None and table.crs.to_epsg() != 4326 else table


def parquet_batches(path: str) -> Any:
    """A reader of a Parquet file, with the metadata that GeoParquet needs."""
    from ._arrow import pa
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(path)
    return pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(batch_size=131_072))


def name_of(path: str) -> str:
    """A source's name for a file: the file's, without its ending."""
    stem = os.path.basename(path).split(".")[0]
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in stem)
    return name.lstrip("._-")[:64] or "source"


class DataWarning(UserWarning):
    """The daemon's advice about data, or a filter of a query, that are probably not what was meant."""


def advise(answer: Mapping[str, Any], stacklevel: int = 4) -> None:
    """Gives the advice of an answer as Python's warnings."""
    for text in answer.get("warnings", ()):
        warnings.warn(str(text), DataWarning, stacklevel=stacklevel)


class Loading:
    """How a client makes sources of tables."""

    def source(self, name: str) -> Source:
        raise NotImplementedError

    def ensure_source(self, source: str, options: Optional[Options] = None) -> bool:
        raise NotImplementedError

    def delete_source(self, source: str) -> None:
        raise NotImplementedError

    def _import(
        self, source: str, items: Iterable[bytes], mode: str, on_invalid: str, timeout: Optional[float]
    ) -> Description:
        raise NotImplementedError

    def from_arrow(
        self, source: str, table: Any, *, longitude: Optional[str] = None, latitude: Optional[str] = None,
        geometry: Optional[str] = None, id: Optional[str] = None, columns: Optional[Sequence[str]] = None,
        options: Optional[Options] = None, mode: str = "replace", on_invalid: str = "reject",
        timeout: Optional[float] = None,
    ) -> Source:
        """Fills a source from an Arrow table, and makes the source if there is none.

        The position is `geometry` (WKB or GeoArrow points), or `longitude` and `latitude`, or the first columns with
        the usual names. `id` is the feature's id, by default the column `id`. `columns` are the properties, by
        default all others; a missing value is left out. A row without a position is an error that names row and column;
        `on_invalid="skip"` leaves such rows out. The daemon's advice comes as a DataWarning. Needs pyarrow.
        """
        items = begun(table_items(table, longitude, latitude, geometry, id, columns, on_invalid))
        is_new = self.ensure_source(source, options)
        try:
            description = self._import(source, items, mode, on_invalid, timeout)
        except BaseException:
            # Otherwise a source that was made for this import would be left behind empty.
            if is_new:
                with contextlib.suppress(ClusterdError):
                    self.delete_source(source)
            raise
        advise(description, stacklevel=3)
        return self.source(source)

    def from_dataframe(self, source: str, frame: Any, **arguments: Any) -> Source:
        """Fills a source from a DataFrame of pandas, GeoPandas or polars; see `from_arrow`."""
        return self.from_arrow(source, frame, **arguments)

    def from_parquet(self, path: str, source: Optional[str] = None, **arguments: Any) -> Source:
        """Fills a source from a Parquet or GeoParquet file; its name is the file's without a `source`."""
        return self.from_arrow(source or name_of(path), parquet_batches(path), **arguments)

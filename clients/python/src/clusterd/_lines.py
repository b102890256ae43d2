# SPDX-License-Identifier: MIT
"""A Parquet or Arrow file as GeoJSON on standard output, for clusterctl."""
from __future__ import annotations

import sys
from typing import Any, Optional


def write(path: str, longitude: Optional[str] = None, latitude: Optional[str] = None, id: Optional[str] = None) -> None:
    """Writes a FeatureCollection, each row's feature on the line of the row's number, so that messages with lines name rows.

    Ends the process with status 1 and a line on standard error if that fails."""
    try:
        _write(path, longitude, latitude, id)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        sys.exit(" ".join(str(error).split()) or type(error).__name__)


def _write(path: str, longitude: Optional[str], latitude: Optional[str], id: Optional[str]) -> None:
    from . import _loading

    output = sys.stdout.buffer
    output.write(b'{"type":"FeatureCollection","features":[')
    separator = b""
    for item in _loading.table_items(_reader(path), longitude, latitude, None, id, None):
        output.write(separator)
        # An item is the object of a call's message: its features lie between the brackets.
        output.write(item[item.index(b"[") + 1 : -2])
        separator = b",\n"
    output.write(b"]}\n")
    output.flush()


def _reader(path: str) -> Any:
    from . import _loading

    if path.lower().endswith("parquet"):
        return _loading.parquet_batches(path)
    import pyarrow.feather

    return pyarrow.feather.read_table(path)

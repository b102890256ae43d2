# SPDX-License-Identifier: MIT
"""Answers in columns: Arrow streams over the client's socket, as tables and frames."""
from __future__ import annotations

import http.client
import importlib
import io
import json
import socket
from typing import Any, Dict, List, Mapping, Optional

from ._connection import Deadline, connect
from ._errors import ClusterdError, Status, deadline_error, lost_error, make_error

ARROW = "application/vnd.apache.arrow.stream"
#: The forms of answers, and what each needs besides pyarrow.
FORMS: Mapping[str, List[str]] = {
    "geojson": [], "arrow": [], "batches": [], "pandas": ["pandas"], "geopandas": ["geopandas", "shapely"], "polars": ["polars"],
}
#: How much of a stream is read at a time.
_PIECE = 1 << 20


def check_form(form: str) -> bool:
    """Whether answers of a form are columns. Raises ImportError if a package for it is missing, before anything is asked."""
    if form not in FORMS:
        raise ValueError(f"as_ must be one of {', '.join(map(repr, FORMS))}, not {form!r}")
    if form == "geojson":
        return False
    extra = form if FORMS[form] else "arrow"
    for package in ["pyarrow", *FORMS[form]]:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise ImportError(f"as_={form!r} needs {package}: pip install 'clusterd[{extra}]'") from error
    return True


class Connection(http.client.HTTPConnection):
    """An HTTP connection on the daemon's socket, for one answer."""

    def __init__(self, path: Optional[str], connect_timeout: Optional[float]) -> None:
        super().__init__("localhost")
        self._path, self._connect_timeout = path, connect_timeout

    def connect(self) -> None:
        self.sock = connect(self._path, self._connect_timeout)

    def abort(self) -> None:
        """Ends the connection for the thread that uses it."""
        if self.sock is not None:
            try:
                self.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Body(io.RawIOBase):
    """An answer's bytes as they come. Its errors are those of calls."""

    def __init__(self, connection: Connection, response: http.client.HTTPResponse, deadline: Deadline, sock: socket.socket) -> None:
        self._connection, self._response, self._deadline, self._socket = connection, response, deadline, sock

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        try:
            with errors():
                self._socket.settimeout(self._deadline.remaining())
                return self._response.readinto(target)
        except ClusterdError:
            self.close()
            raise

    def readall(self) -> bytes:
        with self, errors():
            self._socket.settimeout(self._deadline.remaining())
            return self._response.read()

    def close(self) -> None:
        if not self.closed:
            self._response.close()
            self._connection.close()
        super().close()


class errors:
    """Turns failures of the connection into the errors of calls."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        if error is None or isinstance(error, ClusterdError):
            return
        if isinstance(error, socket.timeout):
            raise deadline_error() from None
        if isinstance(error, (OSError, http.client.HTTPException)):
            raise lost_error(str(error) or "the daemon closed it") from None


def ask(
    connection: Connection, method: str, params: Mapping[str, Any], timeout: Optional[float], grace: float
) -> Body:
    """Asks for a method's answer in columns. Raises the call's error."""
    deadline = Deadline(timeout, grace)
    fields = {"Accept": ARROW, "Content-Type": "application/json"}
    if timeout is not None:
        fields["Connect-Timeout-Ms"] = str(max(0, round(timeout * 1000)))
    try:
        with errors():
            connection.connect()
            sock = connection.sock
            sock.settimeout(deadline.remaining())
            connection.request("POST", f"/clusterd.v1.{method}", json.dumps(params, allow_nan=False).encode(), fields)
            response = connection.getresponse()
            if response.status == 200:
                return Body(connection, response, deadline, sock)
            raise error(response.status, response.read())
    except BaseException:
        connection.close()
        raise


def error(status: int, body: bytes) -> ClusterdError:
    """The error that an answer has instead of columns."""
    try:
        value = json.loads(body)
        return make_error(Status[value["status"]], value["message"], value.get("details"))
    except (ValueError, KeyError, TypeError):
        return make_error(Status.UNKNOWN, f"the daemon answered with HTTP's status {status}")


def read(body: Body, form: str) -> Any:
    """The answer as a form, and the schema's metadata."""
    import pyarrow as pa

    if form == "batches":
        reader = pa.ipc.open_stream(io.BufferedReader(body, _PIECE))
        return reader, _metadata(reader.schema)
    try:
        table = pa.ipc.open_stream(pa.py_buffer(body.readall())).read_all()
    except pa.ArrowInvalid as error:
        raise lost_error(str(error)) from None
    return {"arrow": _same, "pandas": _pandas, "geopandas": _geopandas, "polars": _polars}[form](table), _metadata(table.schema)


def _metadata(schema: Any) -> Dict[str, Any]:
    return {name.decode(): json.loads(value) for name, value in (schema.metadata or {}).items()}


def _same(table: Any) -> Any:
    return table


def _pandas(table: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    # As numbers of numpy, integers with nulls would become floats.
    types = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype(), pa.bool_(): pd.BooleanDtype()}
    names = table.column_names
    nullable = {
        at: types[column.type] for at, column in enumerate(table.columns) if column.type in types and column.null_count
    }
    frame = table.select([at for at in range(len(names)) if at not in nullable]).to_pandas()
    for at, type in nullable.items():
        frame.insert(at, names[at], type.__from_arrow__(table.column(at)))
    return frame


def _geopandas(table: Any) -> Any:
    import geopandas
    import shapely

    points = shapely.points(table.column("longitude").to_numpy(), table.column("latitude").to_numpy())
    if _is_point(table.schema.field(-1)):
        table = table.remove_column(table.num_columns - 1)
    frame = _pandas(table)
    name = "geometry"
    while name in frame.columns:  # a property
        name += "_"
    return geopandas.GeoDataFrame(frame.assign(**{name: points}), geometry=name, crs="EPSG:4326")


def _is_point(field: Any) -> bool:
    import pyarrow as pa

    return field.name == "geometry" and (pa.types.is_struct(field.type) or hasattr(field.type, "storage_type"))


def _polars(table: Any) -> Any:
    import polars as pl
    import pyarrow as pa

    # JSON text and points as they are stored: polars has no types for them.
    columns = []
    for column in table.columns:
        if isinstance(column.type, pa.BaseExtensionType):
            chunks = [chunk.storage for chunk in column.chunks]
            column = pa.chunked_array(chunks, column.type.storage_type)
        columns.append(column)
    return pl.from_arrow(pa.table(columns, names=table.column_names))

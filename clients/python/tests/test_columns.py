# SPDX-License-Identifier: MIT
"""Answers as tables and frames, of the daemon at $CLUSTERD_SOCKET."""
import asyncio
import os
import socket
import sys
import threading
import unittest
import unittest.mock
import warnings

import clusterd
from clusterd import _columns

try:
    import pyarrow as pa
except ImportError:
    pa = None

NEEDED = unittest.skipUnless(pa and os.environ.get("CLUSTERD_SOCKET"), "needs pyarrow and a daemon ($CLUSTERD_SOCKET)")
FIXED = ["longitude", "latitude", "id", "cluster_id", "point_count"]


def package(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def feature(number):
    properties = {"name": f"place {number}", "score": number, "large": 2**60 + number, "half": number / 2, "even": number % 2 == 0,
                  "mixed": [number, "text", None, {"a": 1}][number % 4]}
    if number % 3 == 0:
        del properties["score"], properties["even"]
    return {"type": "Feature", "id": number, "properties": properties,
            "geometry": {"type": "Point", "coordinates": [number % 340 - 170 + 0.25, number % 130 - 65]}}


@NEEDED
class ColumnTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = clusterd.Client()
        cls.client.create_source("columns", {"indexedProperties": {"score": ["get", "score"]}})
        cls.client.import_features("columns", map(feature, range(3000)))
        cls.source = cls.client.source("columns")
        features = cls.client.clusters("columns", zoom=1).features
        cls.cluster = next(one.properties["cluster_id"] for one in features if one.is_cluster)

    @classmethod
    def tearDownClass(cls):
        cls.client.delete_source("columns")
        cls.client.close()

    def answers(self, form):
        """The four calls' answers as a form."""
        return [
            self.source.clusters(zoom=4, filter=[">", ["get", "half"], 100], as_=form), self.source.leaves(self.cluster, 0, as_=form),
            self.source.top("score", limit=5, as_=form), self.source.features(properties=["score", "even", "large"], as_=form),
        ]

    def expected(self):
        clusters, leaves, top, features = self.answers("geojson")
        return [clusters.features, leaves.features, top.features, list(features)]

    def test_tables_have_the_rows_of_geojson(self):
        for rows, table in zip(self.expected(), self.answers("arrow")):
            self.assertIsInstance(table, pa.Table)
            self.assertEqual(table.column_names[:5], FIXED)
            self.assertEqual(table.column("longitude").to_pylist(), [row.coordinates[0] for row in rows])
            self.assertEqual(table.column("point_count").to_pylist(), [row.count if row.is_cluster else None for row in rows])
            self.assertEqual(table.column("id").to_pylist(), [None if row.is_cluster else row.id for row in rows])
            self.assertEqual(table.column("score").to_pylist(), [row.properties.get("score") for row in rows])
            self.assertIn(b"revision", table.schema.metadata)

    def test_batches_are_read_as_they_come(self):
        for table, reader in zip(self.answers("arrow"), self.answers("batches")):
            self.assertIsInstance(reader, pa.RecordBatchReader)
            self.assertTrue(reader.read_all().equals(table))

    def test_batches_need_memory_for_one(self):
        pieces = []
        read = _columns.Body.readinto
        with unittest.mock.patch.object(_columns.Body, "readinto", lambda body, target: pieces.append(len(target)) or read(body, target)):
            rows = sum(batch.num_rows for batch in self.client.features("columns", as_="batches"))
        self.assertEqual(rows, 3000)
        self.assertLessEqual(max(pieces), 1 << 20)

    @unittest.skipUnless(package("pandas"), "needs pandas")
    def test_pandas_keeps_integers(self):
        import pandas as pd

        for rows, frame in zip(self.expected(), self.answers("pandas")):
            self.assertEqual(list(frame.columns[:5]), FIXED)
            self.assertEqual(len(frame), len(rows))
            self.assertEqual([None if pd.isna(value) else value for value in frame["score"]], [row.properties.get("score") for row in rows])
            self.assertIn(str(frame["score"].dtype), ("Int64", "int64"))
            self.assertEqual(str(frame["cluster_id"].dtype), "UInt64")
            self.assertEqual(str(frame["point_count"].dtype), "Int64")
        self.assertEqual(str(frame["id"].dtype), "int64")
        self.assertEqual(str(frame["large"].dtype), "int64")
        self.assertEqual(str(frame["score"].dtype), "Int64")
        self.assertEqual(str(frame["even"].dtype), "boolean")
        self.assertEqual(frame["large"].tolist(), [2**60 + number for number in range(3000)])

    @unittest.skipUnless(package("geopandas"), "needs GeoPandas")
    def test_geopandas_has_points(self):
        for rows, frame in zip(self.expected(), self.answers("geopandas")):
            self.assertEqual(frame.crs.to_epsg(), 4326)
            self.assertEqual([(point.x, point.y) for point in frame.geometry], [tuple(row.coordinates) for row in rows])
        again = self.client.clusters("columns", zoom=2, include=["geometry"], as_="geopandas")
        self.assertEqual(again.geometry.name, "geometry")

    @unittest.skipUnless(package("polars"), "needs polars")
    def test_polars_has_the_values(self):
        import polars as pl

        for table, frame in zip(self.answers("arrow"), self.answers("polars")):
            self.assertEqual(frame.columns, table.column_names)
            self.assertEqual(frame["score"].to_list(), table.column("score").to_pylist())
        leaves = self.source.leaves(self.cluster, 5, as_="polars")
        self.assertEqual(leaves.schema["mixed"], pl.String)
        self.assertEqual(leaves.schema["cluster_id"], pl.UInt64)

    def test_errors_are_those_of_other_calls(self):
        calls = [
            lambda **form: self.client.clusters("nosuch", **form), lambda **form: self.client.leaves("columns", 1, **form),
            lambda **form: self.client.top("columns", "name", **form), lambda **form: self.client.clusters("columns", limit=-1, **form),
            lambda **form: list(self.client.features("columns", filter=["nosuch"], **form)),
            lambda **form: self.client.clusters("columns", revision=99, **form),
            lambda **form: clusterd.Client("/nosuch").clusters("columns", **form),
        ]
        for call in calls:
            errors = []
            for form in ({}, {"as_": "arrow"}):
                with self.assertRaises(clusterd.ClusterdError) as caught:
                    call(**form)
                errors.append(caught.exception)
            self.assertEqual(type(errors[0]), type(errors[1]), errors)
            self.assertEqual(str(errors[0]), str(errors[1]))
            self.assertEqual(errors[0].details, errors[1].details)

    def test_a_daemon_that_does_not_answer_is_not_waited_for(self):
        path = f"{os.environ.get('TMPDIR', '/tmp')}/silent-{os.getpid()}"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            for form in ("arrow", "batches"):
                with self.assertRaises(clusterd.DeadlineExceededError):
                    clusterd.Client(path, timeout=0.05).clusters("columns", as_=form)
        os.unlink(path)

    def test_a_stream_that_is_cut_off_is_an_error(self):
        listener = socket.socket(socket.AF_UNIX)
        path = f"{os.environ.get('TMPDIR', '/tmp')}/cut-{os.getpid()}"
        listener.bind(path)
        listener.listen()

        def answer():
            with listener.accept()[0] as client:
                client.recv(1 << 16)
                client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\xff\xff\xff\xff\r\n")

        for form in ("arrow", "batches"):
            thread = threading.Thread(target=answer)
            thread.start()
            with self.assertRaises(clusterd.UnavailableError):
                clusterd.Client(path).clusters("columns", as_=form)
            thread.join()
        listener.close()
        os.unlink(path)

    def test_advice_is_a_warning(self):
        with self.assertWarns(clusterd.DataWarning) as caught:
            self.client.clusters("columns", filter=["==", ["get", "nosuch"], 1], as_="arrow")
        self.assertEqual(caught.filename, __file__)

    def test_asyncio_has_them(self):
        async def run():
            async with clusterd.AsyncClient() as client:
                tables = await asyncio.gather(
                    client.clusters("columns", zoom=4, as_="arrow"), client.leaves("columns", self.cluster, 0, as_="arrow"),
                    client.top("columns", "score", limit=5, as_="arrow"), client.features("columns", as_="arrow"))
                with self.assertRaises(clusterd.NotFoundError):
                    await client.features("nosuch", as_="arrow")
                rows = [one async for one in client.features("columns")]
                return [table.num_rows for table in tables], len(rows)

        counts, rows = asyncio.run(run())
        self.assertEqual(counts[2:], [5, 3000])
        self.assertEqual(rows, 3000)

    def test_a_cancelled_task_ends_its_connection(self):
        async def run():
            async with clusterd.AsyncClient() as client:
                aborted = asyncio.Event()
                abort = _columns.Connection.abort
                with unittest.mock.patch.object(_columns.Connection, "abort", lambda self: (aborted.set(), abort(self))):
                    task = asyncio.create_task(client.features("columns", as_="arrow"))
                    await asyncio.sleep(0)
                    task.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await task
                    self.assertTrue(aborted.is_set())

        asyncio.run(run())


@unittest.skipUnless(os.environ.get("CLUSTERD_SOCKET"), "needs a daemon ($CLUSTERD_SOCKET)")
class PackageTests(unittest.TestCase):
    def test_a_missing_package_is_named_before_anything_is_asked(self):
        client = clusterd.Client("/nosuch")
        for form, name, extra in [
            ("arrow", "pyarrow", "arrow"), ("batches", "pyarrow", "arrow"), ("pandas", "pandas", "pandas"),
            ("geopandas", "geopandas", "geopandas"), ("polars", "polars", "polars"), ("pandas", "pyarrow", "pandas"),
        ]:
            known = {other: unittest.mock.MagicMock() for other in ("pyarrow", "pandas", "geopandas", "polars", "shapely")}
            with unittest.mock.patch.dict(sys.modules, {**known, name: None}):
                with self.assertRaises(ImportError) as caught:
                    client.clusters("columns", as_=form)
            self.assertIn(f"pip install 'clusterd[{extra}]'", str(caught.exception))
        with self.assertRaises(ValueError):
            client.clusters("columns", as_="csv")

    @unittest.skipUnless(pa, "needs pyarrow")
    def test_no_empty_source_is_left_when_a_frame_is_refused(self):
        client = clusterd.Client()
        self.addCleanup(client.close)
        table = pa.table({"longitude": [1.0, 2.0], "latitude": [3.0, None], "name": ["a", "b"]})
        refused = [
            (table, {}), (table.drop_columns(["latitude"]), {}), (table, {"geometry": "nosuch"}),
            (pa.table({"longitude": [999.0], "latitude": [3.0]}), {}), (table, {"options": {"radius": -1}}),
        ]
        before = client.list_sources()
        for frame, arguments in refused:
            with self.assertRaises(clusterd.InvalidArgumentError):
                client.from_arrow("refused", frame, **arguments)

            async def run():
                async with clusterd.AsyncClient() as other:
                    with self.assertRaises(clusterd.InvalidArgumentError):
                        await other.from_arrow("refused", frame, **arguments)

            asyncio.run(run())
            self.assertEqual([one["source"] for one in client.list_sources()], [one["source"] for one in before])
        # A warning that has become an error does not take a filled source away.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            swapped = pa.table({"longitude": [3.0] * 200, "latitude": [50.0] * 200})
            try:
                client.from_arrow("refused", swapped)
            except clusterd.DataWarning:
                pass
        self.assertEqual(client.get_source("refused")["points"], 200)
        client.delete_source("refused")

# SPDX-License-Identifier: MIT
import datetime
import json
import math
import random
import struct
import unittest

import clusterd
from clusterd import _loading, _wkb

try:
    import pyarrow as pa
    from clusterd import _arrow
except ImportError:
    pa = None


def point(x, y, order="<"):
    return (b"\1" if order == "<" else b"\0") + struct.pack(order + "Idd", 1, x, y)


class WellKnownBinaryTests(unittest.TestCase):
    def test_geometries_of_every_kind(self):
        def line(*positions):
            return struct.pack("<I", len(positions)) + b"".join(struct.pack("<dd", *p) for p in positions)

        def kind(code, body, count=None):
            return b"\1" + struct.pack("<I", code) + (b"" if count is None else struct.pack("<I", count)) + body

        ring = line((0, 0), (1, 0), (1, 1), (0, 0))
        corners = [[0, 0], [1, 0], [1, 1], [0, 0]]
        cases = [
            (point(1, 2), "Point", [1, 2]),
            (point(1, 2, ">"), "Point", [1, 2]),
            (kind(1001, struct.pack("<ddd", 1, 2, 3)), "Point", [1, 2, 3]),
            (kind(2001, struct.pack("<ddd", 1, 2, 9)), "Point", [1, 2, 9]),
            (b"\1" + struct.pack("<II", 0x20000001, 4326) + struct.pack("<dd", 1, 2), "Point", [1, 2]),
            (kind(2, line((0, 0), (1, 1))), "LineString", [[0, 0], [1, 1]]),
            (kind(3, ring, 1), "Polygon", [corners]),
            (kind(4, point(1, 2) + point(3, 4), 2), "MultiPoint", [[1, 2], [3, 4]]),
            (kind(6, kind(3, ring, 1), 1), "MultiPolygon", [[corners]]),
        ]
        for data, name, coordinates in cases:
            self.assertEqual(_wkb.geometry(data), {"type": name, "coordinates": coordinates})
        collection = _wkb.geometry(kind(7, point(1, 2), 1))
        self.assertEqual(collection["geometries"], [{"type": "Point", "coordinates": [1, 2]}])

    def test_bytes_that_are_none_are_refused(self):
        for data in (b"", b"\1", point(1, 2)[:-1], point(1, 2) + b"x", b"\1\xff\xff\xff\xff", b"\1\3\0\0\0\xff\xff\xff\xff"):
            with self.assertRaises(ValueError):
                _wkb.geometry(data)
        with self.assertRaises(ValueError):
            _wkb.geometry(b"\1\7\0\0\0\1\0\0\0" * 100)


@unittest.skipIf(pa is None, "pyarrow is not installed")
class ArrowTests(unittest.TestCase):
    def features(self, table, **columns):
        names = {"longitude": None, "latitude": None, "geometry": None, "id": None, "columns": None, **columns}
        return [f for text in _arrow.items(table, **names) for f in json.loads(text)["features"]]

    def test_values_of_every_type(self):
        texts = ['plain', 'quote " and \\', "line\nfeed \x01 tab\t", "é🏫", ""]
        columns = {
            "lon": [1.5, -180.0, 1e-7, 0.1, 179.99999999999997], "Lat": [2, 3, 4, 5, 6], "id": [7, 8, 9, 10, 2**53],
            "text": texts, "flag": [True, False, None, True, False], "number": [1.5, math.nan, math.inf, None, -0.0],
            "small": pa.array([1, 2, 3, None, 5], pa.int8()), "day": [datetime.date(2026, 1, n) for n in range(1, 6)],
            "list": [[1, None], [], None, [2.5, math.nan, -math.inf], [3]], "nothing": pa.nulls(5),
            "word": pa.array(["a", "b", "a", None, "b"]).dictionary_encode(),
            "when": [datetime.datetime(2026, 1, 1, 12, 0, n) for n in range(5)],
        }
        found = self.features(pa.table(columns))
        self.assertEqual([f["geometry"]["coordinates"] for f in found], [[x, float(y)] for x, y in zip(columns["lon"], columns["Lat"])])
        self.assertEqual([f["id"] for f in found], columns["id"])
        self.assertEqual([f["properties"]["text"] for f in found], texts)
        first, second, last = found[0]["properties"], found[1]["properties"], found[3]["properties"]
        self.assertEqual(first["flag"], True)
        self.assertEqual((first["number"], first["small"], first["list"], first["word"]), (1.5, 1, [1, None], "a"))
        self.assertEqual((first["day"], first["when"]), ("2026-01-01", "2026-01-01T12:00:00"))
        self.assertTrue({"number", "nothing"}.isdisjoint(second))
        self.assertTrue({"number", "small", "word"}.isdisjoint(last))
        self.assertEqual(last["list"], [2.5, None, None])

    def test_slices_and_batches_give_their_own_rows(self):
        generator = random.Random(1)
        rows = 2 * _arrow.ROWS + 5
        values = [generator.uniform(-90, 90) for _ in range(rows)]
        wkb = pa.array([point(v, v / 2) for v in values], pa.binary())
        table = pa.table({"geometry": wkb, "n": list(range(rows)), "text": [f"t{n}" * (n % 3) for n in range(rows)]})
        for start, length in ((0, rows), (7, 11), (_arrow.ROWS - 1, _arrow.ROWS + 3), (rows, 0)):
            found = self.features(table.slice(start, length), geometry="geometry")
            self.assertEqual([f["properties"]["n"] for f in found], list(range(start, start + length)))
            self.assertEqual([f["geometry"]["coordinates"][0] for f in found], values[start : start + length])

    def test_geometries_of_all_forms(self):
        xs, ys = pa.array([1.0, 2.0]), pa.array([3.0, 4.0])
        separated = pa.StructArray.from_arrays([xs, ys], ["x", "y"])
        interleaved = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 3.0, 2.0, 4.0]), 2)
        mixed = pa.array([point(1, 3), point(2, 4, ">")], pa.large_binary())
        for column in (separated, interleaved, mixed):
            found = self.features(pa.table({"g": column}), geometry="g")
            self.assertEqual([f["geometry"]["coordinates"] for f in found], [[1, 3], [2, 4]])

    def test_rows_without_a_position_have_no_geometry(self):
        table = pa.table({"x": [1.0, None, math.nan], "y": [1.0, 2.0, 3.0]})
        self.assertEqual([f["geometry"] is None for f in self.features(table)], [False, True, True])
        table = pa.table({"g": pa.array([point(1, 2), None], pa.binary())})
        self.assertEqual([f["geometry"] is None for f in self.features(table, geometry="g")], [False, True])
        table = pa.table({"g": pa.array([point(1, 2, ">"), point(math.inf, 2)], pa.binary())})
        self.assertEqual([f["geometry"] is None for f in self.features(table, geometry="g")], [False, True])

    def test_rows_without_a_position_are_named(self):
        for name, values in (("x", [1.0, math.nan]), ("y", [1.0, None])):
            columns = {"x": [1.0, 2.0], "y": [3.0, 4.0], name: values}
            with self.assertRaisesRegex(clusterd.InvalidArgumentError, f"row 20001 has no position: column '{name}' is (nan|None)"):
                table = pa.concat_tables([pa.table({"x": [0.5] * 20_000, "y": [0.5] * 20_000}), pa.table(columns)])
                list(_loading.table_items(table, None, None, None, None, None, "reject"))
        table = pa.table({"g": pa.array([point(1, 2), None], pa.binary())})
        with self.assertRaisesRegex(clusterd.InvalidArgumentError, "row 1 has no position: column 'g' is None"):
            list(_loading.table_items(table, None, None, "g", None, None, "reject"))

    def test_missing_columns_and_projected_coordinates_are_explained(self):
        with self.assertRaisesRegex(clusterd.InvalidArgumentError, "there are a, b"):
            self.features(pa.table({"a": [1], "b": [2]}))
        geo = {"primary_column": "g", "columns": {"g": {"crs": {"name": "Belge 72", "id": {"authority": "EPSG", "code": 31370}}}}}
        table = pa.table({"g": pa.array([point(1, 2)])}).replace_schema_metadata({"geo": json.dumps(geo)})
        with self.assertRaisesRegex(clusterd.InvalidArgumentError, "Belge 72.*to_crs"):
            self.features(table)


if __name__ == "__main__":
    unittest.main()

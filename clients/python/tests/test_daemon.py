# SPDX-License-Identifier: MIT
"""Against a real daemon, whose socket is $CLUSTERD_SOCKET."""
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import clusterd

try:
    import pyarrow as pa
    import pyarrow.parquet
except ImportError:
    pa = None
try:
    import pandas
except ImportError:
    pandas = None
try:
    import geopandas
except ImportError:
    geopandas = None

HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(HERE, "../README.md")
CITIES = os.path.join(HERE, "../../../Examples/cities.geojson")


def cities():
    with open(CITIES, encoding="utf-8") as file:
        return json.load(file)["features"]


def columns():
    features = cities()
    return {
        "id": [f["id"] for f in features],
        "longitude": [f["geometry"]["coordinates"][0] for f in features],
        "latitude": [f["geometry"]["coordinates"][1] for f in features],
        "name": [f["properties"]["name"] for f in features],
        "population": [f["properties"]["population"] for f in features],
    }


@unittest.skipUnless(os.environ.get("CLUSTERD_SOCKET"), "$CLUSTERD_SOCKET names no daemon")
class DaemonTests(unittest.TestCase):
    def setUp(self):
        self.client = clusterd.connect()
        self.addCleanup(self.client.close)

    def expected(self, name="expected"):
        """What the same features give that are imported as GeoJSON."""
        features = [{**f, "properties": {k: f["properties"][k] for k in ("name", "population")}} for f in cities()]
        self.client.ensure_source(name)
        self.client.import_features(name, features)
        return self.shown(name)

    def shown(self, name):
        return self.client.clusters(name, zoom=3)["features"]

    @unittest.skipIf(pa is None, "pyarrow is not installed")
    def test_tables_give_what_geojson_gives(self):
        expected = self.expected()
        self.client.from_arrow("arrow", pa.table(columns()))
        self.assertEqual(self.shown("arrow"), expected)
        if pandas is not None:
            self.client.from_dataframe("pandas", pandas.DataFrame(columns()))
            self.assertEqual(self.shown("pandas"), expected)
        asyncio.run(self.import_asynchronously())
        self.assertEqual(self.shown("asynchronous"), expected)

    async def import_asynchronously(self):
        async with clusterd.AsyncClient() as client:
            description = await client.from_arrow("asynchronous", pa.table(columns()))
            self.assertEqual(description["accepted"], len(cities()))

    @unittest.skipIf(pa is None, "pyarrow is not installed")
    @unittest.skipIf(geopandas is None, "geopandas is not installed")
    def test_geopandas_files_and_frames(self):
        data = columns()
        places = geopandas.points_from_xy(data.pop("longitude"), data.pop("latitude"), crs=4326)
        frame = geopandas.GeoDataFrame(data, geometry=places)
        expected = self.expected()
        self.client.from_dataframe("frame", frame)
        self.assertEqual(self.shown("frame"), expected)
        with tempfile.TemporaryDirectory() as folder:
            for encoding in ("WKB", "geoarrow"):
                path = os.path.join(folder, f"{encoding}.places.parquet")
                frame.to_parquet(path, geometry_encoding=encoding, write_covering_bbox=True)
                source = self.client.from_parquet(path)
                self.assertEqual((source.name, self.shown(encoding)), (encoding, expected))
            frame.to_crs(3857).to_parquet(path)
            with self.assertRaisesRegex(clusterd.InvalidArgumentError, "to_crs"):
                self.client.from_parquet(path)
        again = geopandas.GeoDataFrame.from_features(self.client.clusters("frame", zoom=3))
        self.assertEqual(len(again), len(expected))

    @unittest.skipIf(pa is None, "pyarrow is not installed")
    def test_advice_comes_as_a_warning(self):
        answer = {"accepted": 1, "warnings": ["the coordinates look swapped"]}
        with unittest.mock.patch.object(self.client, "_import", return_value=answer):
            with self.assertWarnsRegex(clusterd.DataWarning, "swapped"):
                self.client.from_arrow("advice", pa.table(columns()))

    def test_a_filter_that_nothing_passes_gives_a_warning(self):
        self.expected("misspelt")
        misspelt = [">", ["get", "popluation"], 1]
        with self.assertWarnsRegex(clusterd.DataWarning, 'did you mean "population"') as caught:
            self.client.clusters("misspelt", filter=misspelt)
        self.assertEqual(caught.filename, __file__)

        async def ask():
            async with clusterd.AsyncClient() as client:
                return await client.clusters("misspelt", filter=misspelt)

        with self.assertWarnsRegex(clusterd.DataWarning, "none of the source's"):
            self.assertEqual(asyncio.run(ask()).features, [])

    def test_all_features_are_listed(self):
        self.expected("listed")
        names = sorted(feature.properties["name"] for feature in self.client.features("listed"))
        self.assertEqual(names, sorted(f["properties"]["name"] for f in cities()))
        large = [">", ["get", "population"], 10_000_000]
        self.assertEqual(len(asyncio.run(self.list_asynchronously(large))), len(list(self.client.features("listed", filter=large))))

    async def list_asynchronously(self, expression):
        async with clusterd.AsyncClient() as client:
            return [feature async for feature in client.features("listed", filter=expression)]

    def test_threads_share_a_client(self):
        self.expected("threads")
        counts, failures = [], []

        def work():
            try:
                for zoom in range(20):
                    counts.append(len(self.client.clusters("threads", zoom=zoom % 5).features))
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((failures, len(counts)), ([], 240))

    def test_a_viewport_shows_what_the_daemon_answers(self):
        self.expected("moving")
        box = [-30, 30, 60, 70]
        with self.client.viewport("moving", box, 3) as viewport:
            for zoom, change in zip([4, 6, 2, 5], self.complete(viewport)):
                shown = [m.feature for m in viewport.markers.values()]
                self.assertEqual(self.sorted(shown), self.sorted(self.client.clusters("moving", *self.at)["features"]))
                self.at = (box, zoom)
                viewport.move(box, zoom)
        asyncio.run(self.view_asynchronously(box))

    def test_windows_pins_tops_and_grids(self):
        places, world = cities(), [-180, -90, 180, 90]
        self.client.ensure_source("windows", {"indexedProperties": {"population": ["get", "population"]}})
        self.client.import_features("windows", places)
        window = {"population": [1e6, None]}
        large = [f["properties"]["population"] for f in places if f["properties"]["population"] >= 1e6]
        source = self.client.source("windows")
        self.assertEqual(sum(f.count for f in source.clusters(zoom=2, window=window).features), len(large))
        top = source.top("population", limit=5, window=window).features
        self.assertEqual([f.properties["population"] for f in top], sorted(large, reverse=True)[:5])
        counts = source.histogram("population", edges=[0, 1e6, 1e12])["counts"]
        self.assertEqual(counts, [len(places) - len(large), len(large)])
        self.assertEqual(sum(cell["point_count"] for cell in source.grid(4)["cells"]), len(places))
        squares = self.client.tile("windows", 0, 0, 0, grid=3)["features"]
        self.assertEqual(sum(square["tags"]["point_count"] for square in squares), len(places))
        moves = [{"window": window, "pin": [places[0]["id"]]}, {"window": None}, {"pin": None}, {}]
        shown = {}
        with source.viewport(zoom=2) as viewport:
            for move, _ in zip(moves, self.complete(viewport)):
                markers = [m.feature for m in viewport.markers.values()]
                answer = source.clusters(world, 2, **shown)
                self.assertEqual(self.sorted(markers), self.sorted(answer["features"]))
                shown = {name: value for name, value in {**shown, **move}.items() if value is not None}
                viewport.move(world, 2, **move)
        asyncio.run(self.restrict_asynchronously(window, len(large)))

    async def restrict_asynchronously(self, window, count):
        async with clusterd.AsyncClient() as client:
            self.assertEqual(len((await client.top("windows", "-population", limit=3)).features), 3)
            self.assertEqual((await client.histogram("windows", "population", bins=4))["missing"], 0)
            self.assertTrue((await client.grid("windows", 2))["cells"])
            async with client.viewport("windows", zoom=0) as viewport:
                moved = False
                async for change in viewport:
                    if moved and change.is_complete:
                        break
                    if change.is_complete:
                        await viewport.move([-180, -90, 180, 90], 0, window=window)
                        moved = True
                self.assertEqual(sum(m.feature.count for m in viewport.markers.values()), count)

    at = ([-30, 30, 60, 70], 3)

    def sorted(self, features):
        return sorted((json.dumps(f, sort_keys=True) for f in features))

    def complete(self, viewport):
        return (change for change in viewport if change.is_complete)

    async def view_asynchronously(self, box):
        async with clusterd.AsyncClient() as client:
            async with client.viewport("moving", box, 5) as viewport:
                async for change in viewport:
                    if change.is_complete:
                        await viewport.end()
                expected = (await client.clusters("moving", box, 5))["features"]
                shown = [m.feature for m in viewport.markers.values()]
                self.assertEqual(self.sorted(shown), self.sorted(expected))

    def test_a_cancelled_task_cancels_its_call(self):
        async def main():
            async with clusterd.AsyncClient(pool_size=1) as client:
                self.assertTrue(await client.check())
                task = asyncio.ensure_future(client.clusters("cancelled"))
                await asyncio.sleep(0)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertTrue(await client.check())

        asyncio.run(main())

    def test_a_child_process_has_connections_of_its_own(self):
        self.client.check()
        child = os.fork()
        if child == 0:
            os._exit(0 if self.client.check() else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(self.client.check())

    def test_closing_ends_a_watch_of_another_thread(self):
        self.expected("closed")
        viewport = self.client.viewport("closed")
        changes = iter(viewport)
        self.assertTrue(len(next(changes)))
        threading.Thread(target=self.client.close).start()
        with self.assertRaises(clusterd.UnavailableError):
            for _ in changes:
                pass

    def test_a_notebook_shows_the_map_page_or_a_drawing(self):
        self.expected("map")
        source = self.client.source("map")
        self.assertIn("<svg", source._repr_html_())
        self.client.http = "http://localhost:8080/"
        page = source.map(filter=["==", ["get", "name"], 'a"<b>'])._repr_html_()
        self.assertIn('src="http://localhost:8080/?source=map&amp;filter=%5B%22%3D%3D%22', page)
        self.assertEqual(page.count('"') % 2, 0)

    @unittest.skipIf(pa is None, "pyarrow is not installed")
    def test_the_readme_s_programs_run(self):
        with open(README, encoding="utf-8") as file:
            programs = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreaterEqual(len(programs), 3)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with tempfile.TemporaryDirectory() as folder:
            pa.parquet.write_table(pa.table(columns()), os.path.join(folder, "cities.parquet"))
            for program in programs:
                result = subprocess.run(
                    [sys.executable, "-B", "-c", program], cwd=folder, env=environment, capture_output=True, text=True
                )
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertTrue(result.stdout)


class FallbackTests(unittest.TestCase):
    """A daemon that does not know transitions."""

    def test_a_viewport_does_without_transitions(self):
        with tempfile.TemporaryDirectory() as folder:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(folder + "/s")
            listener.listen(4)
            self.addCleanup(listener.close)
            thread = threading.Thread(target=self.serve, args=(listener,))
            thread.start()
            with clusterd.Client(folder + "/s") as client, client.viewport("any") as viewport:
                self.assertEqual([marker.key for change in viewport for marker in change.added], ["k"])
            thread.join()

    def serve(self, listener):
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as stream:
            for _ in range(2):
                length = int.from_bytes(stream.read(5)[1:], "big")
                call = json.loads(stream.read(length))
                answers = [{"error": {"code": 3, "message": "unknown", "details": {"param": "params.transitions"}}}]
                if "transitions" not in call["params"]:
                    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [0, 0]}, "key": "k"}
                    answers = [{"item": {"add": [point], "remove": [], "keep": 0, "revision": 1}}, {"end": {}}]
                for answer in answers:
                    text = json.dumps({"id": call["id"], **answer}).encode()
                    connection.sendall(b"\0" + len(text).to_bytes(4, "big") + text)


class SearchTests(unittest.TestCase):
    def test_the_first_socket_that_answers_is_used(self):
        with tempfile.TemporaryDirectory() as folder:
            stale = socket.socket(socket.AF_UNIX)
            stale.bind(folder + "/clusterd.sock")
            stale.close()
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(folder + "/system")
            listener.listen(1)
            self.addCleanup(listener.close)
            environment = {"XDG_RUNTIME_DIR": folder, "CLUSTERD_SOCKET": ""}
            with unittest.mock.patch.dict(os.environ, environment), unittest.mock.patch.object(
                clusterd._address, "SYSTEM_SOCKET", folder + "/system"
            ):
                connection = clusterd.Connection()
                self.assertEqual(connection.socket.getpeername(), folder + "/system")
                connection.close()
            with self.assertRaisesRegex(clusterd.UnavailableError, "start clusterd"):
                clusterd.Connection(folder + "/none")


if __name__ == "__main__":
    unittest.main()

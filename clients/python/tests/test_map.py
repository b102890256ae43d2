# SPDX-License-Identifier: MIT
"""The notebook's map without a browser: its data, traits and messages, and the daemon that is started for it."""
import glob
import gzip
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import clusterd
from clusterd import _bundle

HERE = os.path.dirname(os.path.abspath(__file__))
CITIES = os.path.join(HERE, "../../../Examples/cities.geojson")
PROGRAM = os.environ.get("CLUSTERD_PROGRAM")


def has(*names):
    return all(importlib.util.find_spec(name) for name in names)


@unittest.skipUnless(os.path.isdir(_bundle.LEAFLET), "needs Debian's libjs-leaflet")
class BundleTests(unittest.TestCase):
    def test_it_is_one_module_without_imports(self):
        script, style = _bundle.files()
        self.assertNotRegex(script, r"(?m)^import\b")
        self.assertEqual(script.count("\nexport default "), 1)
        self.assertIn("const L = ", script)
        self.assertNotIn("url(", style)
        for line in style.splitlines():
            if line.endswith("}") and "{" in line and not line.startswith((" ", "@")):
                for selector in line.split("{")[0].split(","):
                    self.assertTrue(selector.strip().startswith(".clusterd-map"), line)

    def test_it_is_valid(self):
        script, _ = _bundle.files()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "map.mjs")
            with open(path, "w", encoding="utf-8") as file:
                file.write(script)
            try:
                result = subprocess.run(["node", "--check", path], capture_output=True, text=True)
            except FileNotFoundError:
                self.skipTest("needs node")
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_module_that_it_cannot_read_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("widget.js", 'import x from "./y.js";\nexport default {};\n'), ("style.css", ""), ("map.css", "")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            with self.assertRaisesRegex(ValueError, "widget.js"):
                _bundle.build(folder, _bundle.LEAFLET)


class WithoutWidgetTests(unittest.TestCase):
    def test_the_error_says_what_to_install(self):
        with unittest.mock.patch.dict(sys.modules, {"anywidget": None}):
            sys.modules.pop("clusterd._widget", None)
            with self.assertRaisesRegex(ImportError, r"pip install 'clusterd\[notebook\]'"):
                clusterd.Map
        with self.assertRaises(AttributeError):
            clusterd.Nothing


@unittest.skipUnless(has("anywidget", "pyarrow") and os.environ.get("CLUSTERD_SOCKET"), "needs anywidget, pyarrow and a daemon")
class MapTests(unittest.TestCase):
    def setUp(self):
        self.client = clusterd.Client()
        self.addCleanup(self.client.close)
        self.client.create_source("maps")
        self.addCleanup(self.client.delete_source, "maps")
        with open(CITIES, encoding="utf-8") as file:
            self.features = json.load(file)["features"]
        self.client.import_features("maps", self.features)

    def map(self, data, **arguments):
        made = clusterd.Map(data, **arguments)
        self.addCleanup(made.close)
        made.send = unittest.mock.Mock()
        return made

    def sent(self, m, kind):
        return [call.args[0] for call in m.send.call_args_list if call.args[0]["kind"] == kind]

    def receive(self, m, kind, **content):
        m._receive(m, {"kind": kind, "view": "v", **content}, [])

    def test_a_name_or_a_source_is_shown_as_it_is(self):
        for data, arguments in [("maps", {}), ("maps", {"client": self.client}), (self.client.source("maps"), {})]:
            m = self.map(data, **arguments)
            self.assertEqual(m.source.name, "maps")
            self.assertEqual(m.revision, self.client.get_source("maps")["revision"])
            self.assertEqual(m.bbox, self.client.get_source("maps")["bbox"])
            m.close()
        self.assertEqual(self.client.get_source("maps")["points"], len(self.features), "it is not the map's to delete")
        with self.assertRaises(clusterd.NotFoundError):
            clusterd.Map("nosuch", client=self.client)
        self.map("maps", client=self.client, radius=77)
        self.assertEqual(self.client.get_source("maps")["options"]["radius"], 77)

    def test_other_data_become_a_source_for_as_long_as_the_map(self):
        import pyarrow as pa
        import pyarrow.parquet

        with tempfile.TemporaryDirectory() as folder:
            lines = os.path.join(folder, "my cities.ndjson.gz")
            with gzip.open(lines, "wt", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in self.features)
            table = pa.table({"longitude": [1.0, 2.0], "latitude": [3.0, 4.0], "n": [1, 2]})
            pyarrow.parquet.write_table(table, os.path.join(folder, "two.parquet"))
            for data, points, name in [
                (table, 2, "map"), (CITIES, len(self.features), "cities"), (lines, len(self.features), "my-cities"),
                (os.path.join(folder, "two.parquet"), 2, "two"),
            ]:
                m = self.map(data, client=self.client, radius=30)
                self.assertRegex(m.source.name, f"^{name}(-[0-9]+)?$")
                self.assertEqual((m.source.describe()["points"], m.source.describe()["options"]["radius"]), (points, 30))
                again = self.map(data, client=self.client)
                self.assertNotEqual(again.source.name, m.source.name)
                again.close()
                m.close()
                self.assertFalse({m.source.name, again.source.name} & {one["source"] for one in self.client.list_sources()})
        before = [one["source"] for one in self.client.list_sources()]
        for data, error in [("/nosuch.geojson", clusterd.NotFoundError), (table.drop_columns(["latitude"]), clusterd.InvalidArgumentError)]:
            with self.assertRaises(error):
                clusterd.Map(data, client=self.client)
        with self.assertRaises(clusterd.InvalidArgumentError):
            clusterd.Map(table, client=self.client, nosuch=1)
        self.assertEqual([one["source"] for one in self.client.list_sources()], before)

    def test_traits_move_the_map_and_follow_it(self):
        m = self.map("maps", client=self.client, center=[10, 50], zoom=4)
        self.receive(m, "ready")
        self.assertEqual(self.sent(m, "start")[0] | {"filter": 0}, {
            "kind": "start", "view": "v", "source": "maps", "filter": 0, "plane": None, "center": [10, 50], "zoom": 4})
        m.zoom = 5
        self.assertEqual(self.sent(m, "move")[-1], {"kind": "move", "center": [10, 50], "zoom": 5})
        m.bbox = [1.0, 2.0, 3.0, 4.0]
        self.assertEqual(self.sent(m, "move")[-1], {"kind": "move", "bbox": [1, 2, 3, 4]})
        moves, changes = [], []
        m.on_move(moves.append)
        m.observe(lambda change: changes.append(change["name"]), ["bbox", "zoom", "center"])
        m.send.reset_mock()
        self.receive(m, "state", hasMoved=True, bbox=[0, 1, 2, 3], zoom=6.5, center=[1, 2])
        self.assertEqual((m.bbox, m.zoom, m.center, moves), ([0, 1, 2, 3], 6.5, [1, 2], [m]))
        self.assertEqual(sorted(changes), ["bbox", "center", "zoom"])
        self.assertEqual(self.sent(m, "move"), [], "the map is where it is")
        m.on_move(moves.append, remove=True)
        self.receive(m, "state", hasMoved=True, bbox=[0, 1, 2, 3], zoom=7, center=[1, 2])
        self.assertEqual(len(moves), 1)
        self.receive(m, "ready")
        self.assertEqual(self.sent(m, "start")[-1]["zoom"], 7, "another view begins where the last one is")

    def test_what_is_read_only_is(self):
        import traitlets

        m = self.map("maps", client=self.client)
        for name, value in [("revision", 2), ("selected", {}), ("shown", 3), ("error", "x")]:
            with self.assertRaises(traitlets.TraitError):
                setattr(m, name, value)
        self.receive(m, "state", shown=7, revision=3, seconds=[0.01], bbox=[0, 1, 2, 3], zoom=1, center=[1, 2])
        self.assertEqual((m.shown, m.revision, m.timings), (7, 3, [0.01]))
        for number in range(1100):
            self.receive(m, "state", shown=7, revision=3, seconds=[number], bbox=[0, 1, 2, 3], zoom=1, center=[1, 2])
        self.assertEqual(m.timings, list(range(100, 1100)))

    def test_a_filter_is_checked_before_it_is_used(self):
        m = self.map("maps", client=self.client, filter=[">", ["get", "population"], 1e6])
        self.receive(m, "ready")
        self.assertEqual(self.sent(m, "start")[0]["filter"], [">", ["get", "population"], 1e6])
        for wrong in (["nosuch"], 3, object()):
            m.filter = wrong
            self.assertTrue(m.error)
        self.assertEqual(self.sent(m, "filter"), [], "the map stays as it is")
        m.filter = None
        self.assertIsNone(m.error)
        self.assertEqual(self.sent(m, "filter"), [{"kind": "filter", "filter": None}])

    def test_clicks_are_features(self):
        m, clicks = self.map("maps", client=self.client), []
        m.on_click(clicks.append)
        feature = {"type": "Feature", "id": 4, "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {"name": "x"}}
        self.receive(m, "click", feature=feature)
        self.assertIsInstance(m.selected, clusterd.Feature)
        self.assertEqual((m.selected.id, clicks), (4, [feature]))
        self.receive(m, "click", feature=None)
        self.assertEqual((m.selected, len(clicks)), (None, 1))

    def await_sent(self, m, kind, count=1):
        end = time.monotonic() + 10
        while len(found := self.sent(m, kind)) < count:
            self.assertLess(time.monotonic(), end, f"no {kind}: {m.send.call_args_list}")
            time.sleep(0.01)
        return found

    def test_the_browser_s_questions_are_answered(self):
        m = self.map("maps", client=self.client)
        self.receive(m, "get", id=1, path="/sources/maps/clusters?zoom=2")
        self.assertEqual(self.await_sent(m, "answer")[0]["status"], 200)
        body = m.send.call_args_list[-1].kwargs["buffers"][0]
        self.assertEqual(json.loads(body), dict(self.client.clusters("maps", zoom=2)))
        self.receive(m, "get", id=2, path="/sources/nosuch/clusters?zoom=2")
        answer = self.await_sent(m, "answer", 2)[1]
        self.assertEqual((answer["id"], answer["status"], answer["code"]), (2, 404, "not_found"))
        self.receive(m, "nosuch")

    def test_watches_pass_through(self):
        m = self.map("maps", client=self.client)
        self.receive(m, "watch", id=1, params={"bbox": [-180, -90, 180, 90], "zoom": 1})
        first = self.await_sent(m, "item")[0]["item"]
        self.assertEqual(len(first["add"]), len(self.client.clusters("maps", zoom=1).features))
        self.receive(m, "send", id=1, item={"bbox": [-180, -90, 180, 90], "zoom": 3})
        self.await_sent(m, "item", 2)
        self.receive(m, "watch", id=2, params={"bbox": [1], "zoom": 1})
        ended = self.await_sent(m, "ended")[0]
        self.assertEqual((ended["id"], ended["code"]), (2, 4003))
        self.receive(m, "close", id=1)
        self.receive(m, "send", id=1, item={})
        self.assertEqual(m._streams, {})
        self.assertEqual(len(self.sent(m, "ended")), 1, "a watch that the browser has closed is not reported")


@unittest.skipUnless(has("anywidget", "pyarrow") and PROGRAM, "needs anywidget, pyarrow and $CLUSTERD_PROGRAM")
class EmbeddedTests(unittest.TestCase):
    PROGRAM = """
import os, signal, sys, time
import clusterd, pyarrow as pa
# Whoever runs the tests may have blocked signals.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
table = pa.table({"longitude": [1.0], "latitude": [2.0]})
maps = [clusterd.Map(table), clusterd.Map(table)]
print(maps[0].client._pool.path, maps[1].client._pool.path, flush=True)
"""

    def run_program(self, rest, folder, **variables):
        environment = {**os.environ, "TMPDIR": folder, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
        environment.pop("CLUSTERD_SOCKET", None)
        return subprocess.Popen(
            [sys.executable, "-c", self.PROGRAM + rest], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def await_end(self, folder):
        """Nothing is left within five seconds."""
        end = time.monotonic() + 5
        while True:
            left = glob.glob(folder + "/*")
            for path in glob.glob("/proc/[0-9]*/cmdline"):
                try:
                    with open(path, "rb") as file:
                        if folder.encode() + b"/clusterd-" in file.read():
                            left.append(path)
                except OSError:
                    pass
            if not left:
                return
            self.assertLess(time.monotonic(), end, left)
            time.sleep(0.02)

    def test_it_ends_with_its_process_however_that_ends(self):
        for rest, number in [
            ("", None), ("os._exit(3)", None), ("raise ValueError", None), ("time.sleep(60)", signal.SIGKILL),
            ("time.sleep(60)", signal.SIGTERM), ("time.sleep(60)", signal.SIGINT),
            ("import subprocess; subprocess.Popen(['sleep', '8']); time.sleep(60)", signal.SIGKILL),
            ("os.fork() or time.sleep(8) or os._exit(0)\ntime.sleep(60)", signal.SIGKILL),
        ]:
            with self.subTest(rest=rest, number=number), tempfile.TemporaryDirectory() as folder:
                process = self.run_program(rest, folder)
                paths = process.stdout.readline().split()
                self.assertEqual(len(set(paths)), 1, "both maps have one daemon: " + (process.stderr.read() if not paths else ""))
                if number is not None:
                    self.assertEqual(os.stat(os.path.dirname(paths[0])).st_mode & 0o777, 0o700)
                    process.send_signal(number)
                process.wait(20)
                self.await_end(folder)
                process.stdout.close()
                process.stderr.close()

    def test_the_last_map_ends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            process = self.run_program("""
folder = os.path.dirname(maps[0].client._pool.path)
maps[0].close()
assert maps[1].source.describe()["points"] == 1
maps[1].close()
assert not os.path.exists(folder)
again = clusterd.Map(table)
assert again.client._pool.path != maps[0].client._pool.path
child = os.fork()
if child == 0:
    sys.exit()
os.waitpid(child, 0)
assert again.source.describe()["points"] == 1, "a forked process does not end it"
again.close()
again.close()
assert not os.listdir(os.environ["TMPDIR"])
""", folder)
            output, errors = process.communicate(timeout=60)
            self.assertEqual((process.returncode, errors), (0, ""))

    def test_a_program_that_cannot_be_used_is_an_error_that_says_why(self):
        for program, text in [("/nosuch", "/nosuch"), ("/bin/false", "/bin/false does not start")]:
            with tempfile.TemporaryDirectory() as folder:
                process = self.run_program("", folder, CLUSTERD_PROGRAM=program)
                errors = process.communicate(timeout=60)[1]
                self.assertIn("UnavailableError", errors)
                self.assertIn(text, errors)
                self.await_end(folder)

# SPDX-License-Identifier: MIT
"""The package with an engine that is no Spark: it tries steps again, reorders them and kills them. Needs $CLUSTERCTL alone."""
import filecmp
import importlib.util
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import types
import unittest
from unittest import mock

import clusterd_spark
from clusterd_spark import _build, _program

CLUSTERCTL = os.environ.get("CLUSTERCTL", "")
POINTS = 10_000
OPTIONS = {"clusterIds": "origin", "sortKey": ["hash", ["id"]]}


class Engine:
    """What a build uses of a SparkContext. `act(lines, run)` runs a list of steps."""

    defaultParallelism = 2

    def __init__(self, act=lambda lines, run: run(lines)):
        self.act, self.folder, self.descriptions = act, tempfile.mkdtemp(), []
        files = types.SimpleNamespace(
            getRootDirectory=lambda: self.folder, get=lambda name: os.path.join(self.folder, "unpacked", name))
        self.modules = mock.patch.dict(sys.modules, {"pyspark": types.SimpleNamespace(SparkFiles=files)})

    def addArchive(self, path):
        with tarfile.open(path) as archive:
            archive.extractall(os.path.join(self.folder, "unpacked", os.path.basename(path)))

    def setJobDescription(self, text):
        self.descriptions.append(text)

    def parallelize(self, lines, slices):
        assert 0 < slices <= len(lines)
        return types.SimpleNamespace(
            mapPartitions=lambda task: types.SimpleNamespace(collect=lambda: self.act(lines, lambda some: list(task(some)))))


class BuildTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not CLUSTERCTL:
            raise unittest.SkipTest("$CLUSTERCTL is not set")
        cls.folder = tempfile.TemporaryDirectory()
        cls.points = cls.folder.name + "/points.geojsonl"
        subprocess.run([CLUSTERCTL, "generate", "gathered", str(POINTS), "--lines", "-o", cls.points], check=True)
        cls.expected = cls.folder.name + "/expected.clusterd"
        subprocess.run(
            [CLUSTERCTL, "build", cls.expected, cls.points, "--options", json.dumps(OPTIONS)], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def build(self, engine, expected=None, **arguments):
        output = os.path.join(self.folder.name, self.id() + ".clusterd")
        arguments = {"inputs": self.points, "options": OPTIONS, "shards": 16, **arguments}
        with engine.modules:
            summary = clusterd_spark.build(engine, output=output, **arguments)
        self.assertTrue(filecmp.cmp(output, expected or self.expected, shallow=False), "the image is not that of clusterctl build")
        self.assertFalse(os.path.exists(output + ".build"), "temporary files are left")
        return summary

    def test_steps_may_be_repeated_reordered_and_killed(self):
        generator = random.Random(1)

        def act(lines, run):
            lines = list(lines)
            generator.shuffle(lines)
            for line in generator.sample(lines, min(3, len(lines))):
                # Killed at any moment: before, in the middle of or after its work.
                attempt = subprocess.Popen([CLUSTERCTL, "build-step", "@-"], stdin=subprocess.PIPE)
                attempt.stdin.write(line.encode())
                attempt.stdin.close()
                try:
                    attempt.wait(generator.uniform(0, 0.05))
                except subprocess.TimeoutExpired:
                    attempt.kill()
                    attempt.wait()
            # Two attempts of each at the same time.
            others = [subprocess.Popen([CLUSTERCTL, "build-step", line]) for line in lines[:4]]
            results = run(lines)
            self.assertEqual([other.wait() for other in others], [0] * len(others))
            return results

        engine = Engine(act)
        summary = self.build(engine)
        self.assertEqual((summary["points"], summary["skipped"]), (POINTS, 0))
        group = summary["groups"][0]
        self.assertGreaterEqual(group["parts"], 16)
        self.assertGreater(group["bytes"], POINTS + group["copies"], "a node takes more than a byte in a file")
        self.assertEqual(summary["spark"]["jobs"], 1 + len(summary["groups"]))
        self.assertEqual(engine.descriptions[0], "clusterd: 1 × reading features")
        self.assertTrue(engine.descriptions[2].endswith("× a step of zooms 13 to 16"), engine.descriptions)

    def test_a_failed_build_says_why_and_goes_on(self):
        calls = []

        def act(lines, run):
            calls.append(len(lines))
            if len(calls) == 3:
                raise RuntimeError("Traceback …\n  StepError: clusterctl: no space left\n  at somewhere")
            return run(lines)

        engine = Engine(act)
        with self.assertRaisesRegex(clusterd_spark.BuildError, "^a step of zooms 9 to 12 failed: no space left$"):
            self.build(engine)
        self.build(engine, resume=True)
        done = [text.split("× ")[1] for text in engine.descriptions if text]
        self.assertEqual(done[:4], ["reading features", "a step of zooms 13 to 16", *["a step of zooms 9 to 12"] * 2])
        self.assertEqual(len(set(done)), len(done) - 1, f"steps that were complete ran again: {done}")

    def test_a_step_that_fails_is_named(self):
        def act(lines, run):
            return run([json.dumps({**json.loads(line), "inputs": ["/nowhere"]}) for line in lines])

        with self.assertRaisesRegex(clusterd_spark.BuildError, "^a step of zooms 13 to 16 failed: .*/nowhere"):
            self.build(Engine(act))

    def test_a_driver_that_ends_ends_the_planner(self):
        output = self.folder.name + "/ended.clusterd"
        planner = subprocess.Popen(
            [CLUSTERCTL, "build", output, self.points, "--options", json.dumps(OPTIONS), "--engine"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with planner:
            self.assertIn("steps", json.loads(planner.stdout.readline()))
            planner.stdin.close()
            self.assertEqual(planner.wait(), -15)
            self.assertIn(b"has ended", planner.stderr.read())
        self.assertFalse(os.path.exists(output))

    def test_invalid_lines_are_named_or_counted(self):
        path = self.folder.name + "/invalid.geojsonl"
        with open(self.points) as source, open(path, "w") as target:
            lines = source.readlines()
            lines.insert(7000, '{"type":"Feature"}\n')
            target.writelines(lines)
        with self.assertRaisesRegex(clusterd_spark.BuildError, "^.*invalid.geojsonl:7001: "):
            self.build(Engine(), inputs=path)
        summary = self.build(Engine(), inputs=path, on_invalid="skip", overwrite=True)
        self.assertEqual(summary["skipped"], 1)

    def test_parquet_is_read_with_the_python_of_the_tasks(self):
        # The Python client, and what scripts/install-dependencies --tests has installed.
        root = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
        packages = [root + "/clients/python/src", root + "/.build/test-python"]
        known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        with mock.patch.object(sys, "path", sys.path + packages):
            if importlib.util.find_spec("pyarrow") is None:
                print("pyarrow is missing: Parquet on Spark is not tested", file=sys.stderr)
                return
            with mock.patch.dict(os.environ, {"PYTHONPATH": os.pathsep.join(known + packages)}):
                self.build_parquet()

    def build_parquet(self):
        import pyarrow
        import pyarrow.parquet

        folder = tempfile.mkdtemp(dir=self.folder.name)
        paths = [f"{folder}/part-{number}.parquet" for number in range(3)]
        for number, path in enumerate(paths):
            rows = range(number * 2000, number * 2000 + 2000)
            columns = {
                "id": list(rows), "longitude": [row % 360 - 180.0 for row in rows], "latitude": [row % 150 / 3 for row in rows],
                "weight": [-1 if row == 5001 else row % 5 + 1 for row in rows]}
            pyarrow.parquet.write_table(pyarrow.table(columns), path)
        options = {**OPTIONS, "weight": ["get", "weight"]}
        with self.assertRaisesRegex(clusterd_spark.BuildError, "^.*part-2.parquet:1002: .* has a weight"):
            self.build(Engine(), inputs=folder, options=options)
        expected = folder + "/expected.clusterd"
        words = [CLUSTERCTL, "build", expected, *paths, "--options", json.dumps(options), "--on-invalid", "skip"]
        subprocess.run(words, env={**os.environ, "CLUSTERD_PYTHON": sys.executable}, check=True, stdout=subprocess.DEVNULL)
        # No other Python is asked.
        with mock.patch.dict(os.environ, {"PATH": "/nowhere"}):
            summary = self.build(Engine(), expected, inputs=paths, options=options, on_invalid="skip", overwrite=True)
        self.assertEqual((summary["points"], summary["skipped"]), (5999, 1))

    def test_refusals(self):
        with self.assertRaisesRegex(clusterd_spark.BuildError, "^options.sortKey: "):
            self.build(Engine(), options={"clusterIds": "origin"})
        with self.assertRaisesRegex(clusterd_spark.BuildError, "is an address"):
            self.build(Engine(), inputs="s3://bucket/points.geojsonl")
        with self.assertRaisesRegex(clusterd_spark.BuildError, "does not exist"):
            self.build(Engine(), inputs=self.points + ".none")
        with self.assertRaisesRegex(clusterd_spark.BuildError, "Spark Connect"):
            clusterd_spark.build(types.SimpleNamespace(), self.points, "/tmp/none.clusterd", OPTIONS)

    def test_an_archive_is_passed_on(self):
        tiles = self.folder.name + "/tiles.pmtiles"
        self.build(Engine(), archive=tiles, name="places")
        with open(tiles, "rb") as file:
            self.assertEqual(file.read(7), b"PMTiles")

    def test_inputs_are_files_folders_and_patterns(self):
        folder = tempfile.mkdtemp(dir=self.folder.name)
        for name in ("part-2.csv", "part-1.csv", "_SUCCESS", ".part-1.csv.crc"):
            open(os.path.join(folder, name), "w").close()
        parts = [f"{folder}/part-1.csv", f"{folder}/part-2.csv"]
        self.assertEqual(_build._files(folder), parts)
        self.assertEqual(_build._files([f"file://{folder}/part-*.csv", self.points]), parts + [self.points])

    def test_the_program_is_found(self):
        with mock.patch.dict(os.environ, {"CLUSTERCTL": "relative/clusterctl"}):
            self.assertEqual(_program.find(), os.path.abspath("relative/clusterctl"))
        with tempfile.TemporaryDirectory() as folder:
            installed = os.path.join(folder, "clusterd/_daemon/bin/clusterctl")
            os.makedirs(os.path.dirname(installed))
            for path in (installed, os.path.join(folder, "clusterctl"), os.path.join(folder, "clusterd/__init__.py")):
                with open(path, "w"):
                    os.chmod(path, 0o755)
            with mock.patch.dict(os.environ, {"CLUSTERCTL": "", "PATH": folder}):
                with mock.patch.object(sys, "path", [folder]):
                    self.assertEqual(_program.find(), installed)
                with mock.patch.object(sys, "path", []):
                    self.assertEqual(_program.find(), os.path.join(folder, "clusterctl"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""The package on a real Spark of several executors. Needs $CLUSTERCTL, pyspark and Java."""
import filecmp
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import clusterd_spark

CLUSTERCTL = os.environ.get("CLUSTERCTL", "")
MASTER = "local-cluster[2,1,1024]"
OPTIONS = {"clusterIds": "origin", "sortKey": ["hash", ["id"]], "clusterProperties": {"sum": ["+", ["get", "value"]]}}

#: Runs the program, but once ten steps have begun does what a file beside it says, once.
WRAPPER = """#!/bin/sh
if [ "$1" = build-step ]; then
    echo >> FOLDER/begun
    if [ "$(wc -l < FOLDER/begun)" -gt 10 ]; then
        if mv FOLDER/kill-executor FOLDER/killed-executor 2>/dev/null; then
            process=$$
            while [ "$(cat /proc/$process/comm)" != java ]; do process=$(awk '/^PPid/ { print $2 }' /proc/$process/status); done
            kill -9 "$process"
            exit 1
        fi
        if mv FOLDER/kill-driver FOLDER/killed-driver 2>/dev/null; then
            kill -9 "$(cat FOLDER/killed-driver)"
            exit 1
        fi
        if [ -e FOLDER/fail ]; then echo "clusterctl: this step has a fault" >&2; exit 1; fi
    fi
fi
exec PROGRAM "$@"
"""


class SparkTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not CLUSTERCTL:
            raise unittest.SkipTest("$CLUSTERCTL is not set")
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise unittest.SkipTest("pyspark is missing: pip install pyspark")
        if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            raise unittest.SkipTest("Java is missing: apt install openjdk-17-jre-headless")
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = cls.holder.name
        cls.points = cls.folder + "/points.geojsonl"
        subprocess.run([CLUSTERCTL, "generate", "gathered", "20000", "--lines", "-o", cls.points], check=True)
        cls.expected = cls.folder + "/expected.clusterd"
        subprocess.run(
            [CLUSTERCTL, "build", cls.expected, cls.points, "--options", json.dumps(OPTIONS)], check=True, stdout=subprocess.DEVNULL)
        program = cls.folder + "/clusterctl"
        with open(program, "w") as file:
            file.write(WRAPPER.replace("FOLDER", cls.folder).replace("PROGRAM", os.path.realpath(CLUSTERCTL)))
        os.chmod(program, 0o755)
        os.environ["CLUSTERCTL"] = program
        cls.settings = {
            "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
            "spark.local.dir": cls.folder, "spark.log.level": "OFF"}
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        # Spark's workers keep their files below.
        os.environ["SPARK_WORKER_DIR"] = cls.folder + "/work"
        builder = SparkSession.builder.master(MASTER)
        for name, value in cls.settings.items():
            builder = builder.config(name, value)
        cls.spark = builder.getOrCreate()

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()
        os.environ["CLUSTERCTL"] = CLUSTERCTL
        cls.holder.cleanup()

    def setUp(self):
        if os.path.exists(self.folder + "/begun"):
            os.remove(self.folder + "/begun")
        self.output = f"{self.folder}/{self.id()}.clusterd"

    def note(self, name, text=""):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)

    def build(self, **arguments):
        summary = clusterd_spark.build(self.spark, self.points, self.output, OPTIONS, shards=16, **arguments)
        self.assertTrue(filecmp.cmp(self.output, self.expected, shallow=False), "the image is not that of clusterctl build")
        self.assertFalse(os.path.exists(self.output + ".build"), "temporary files are left")
        return summary

    def test_an_executor_is_killed(self):
        self.note("kill-executor")
        summary = self.build()
        self.assertTrue(os.path.exists(self.folder + "/killed-executor"), "no executor was killed")
        self.assertEqual(summary["points"], 20000)
        self.assertGreaterEqual(summary["groups"][0]["parts"], 16)

    def test_what_spark_has_written_as_parquet_is_built_with_an_archive(self):
        for name in ("pyarrow", "clusterd"):
            if importlib.util.find_spec(name) is None:
                self.skipTest(f"{name} is missing: pip install pyarrow ../python")
        folder = self.folder + "/parquet"
        rows = self.spark.range(0, 20000, 1, 3).selectExpr(
            "id", "hash(id) % 1800 / 10D AS longitude", "hash(-id) % 600 / 10D AS latitude", "id % 9 AS value",
            "concat('place ', id) AS name")
        rows.write.parquet(folder)
        parts = sorted(entry.path for entry in os.scandir(folder) if entry.name.endswith(".parquet"))
        self.assertEqual(len(parts), 3)
        expected = self.folder + "/of-parquet"
        words = [CLUSTERCTL, "build", expected + ".clusterd", *parts, "--options", json.dumps(OPTIONS), "--archive",
                 expected + ".pmtiles", "--name", "places"]
        subprocess.run(words, env={**os.environ, "CLUSTERD_PYTHON": sys.executable}, check=True, stdout=subprocess.DEVNULL)
        archive = self.output + ".pmtiles"
        summary = clusterd_spark.build(self.spark, folder, self.output, OPTIONS, shards=8, archive=archive, name="places")
        self.assertEqual((summary["points"], summary["skipped"]), (20000, 0))
        self.assertTrue(filecmp.cmp(self.output, expected + ".clusterd", shallow=False), "the image is another")
        self.assertTrue(filecmp.cmp(archive, expected + ".pmtiles", shallow=False), "the archive is another")

    def test_a_step_fails_and_the_build_is_resumed(self):
        self.note("fail")
        with self.assertRaisesRegex(clusterd_spark.BuildError, "^a step of zooms .* failed: this step has a fault$"):
            self.build()
        os.remove(self.folder + "/fail")
        self.build(resume=True)

    def test_a_driver_is_killed_and_the_build_is_resumed(self):
        # The script for spark-submit, which takes its settings from arguments.
        script = os.path.join(os.path.dirname(clusterd_spark.__file__), "submit.py")
        words = [sys.executable, "-c", f"import os; open({self.folder + '/kill-driver'!r}, 'w').write(str(os.getpid()))\n"
                 f"import runpy; runpy.run_path({script!r}, run_name='__main__')"]
        words += [self.output, self.points, "--options", json.dumps(OPTIONS), "--shards", "16"]
        settings = " ".join(f"--conf {name}={value}" for name, value in self.settings.items())
        driver = subprocess.run(
            words, env={**os.environ, "PYSPARK_SUBMIT_ARGS": f"--master {MASTER} {settings} pyspark-shell"}, stderr=subprocess.PIPE)
        self.assertEqual(driver.returncode, -9, driver.stderr.decode())
        self.assertFalse(os.path.exists(self.output))
        self.assertTrue(os.path.exists(self.output + ".build"), "nothing is left to resume")
        os.remove(self.folder + "/begun")
        self.build(resume=True)
        with open(self.folder + "/begun") as file:
            self.assertGreater(len(file.readlines()), 0)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""Builds an image, as a script for spark-submit:

    spark-submit submit.py OUT.clusterd INPUT… --options JSON [--shards N] [--archive OUT.pmtiles] [--resume] …
"""
from __future__ import annotations

import argparse
import json
import logging
import os
import sys


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the image of a source of any size on Spark.")
    parser.add_argument("output", metavar="OUT", help="the image, on storage that driver and executors mount, like all files")
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help="files of features, folders of them, or patterns")
    parser.add_argument("--options", required=True, help="the source's options as JSON, or @FILE")
    parser.add_argument("--shards", type=int, metavar="N", help="in how many parts a level is cut at least")
    parser.add_argument("--archive", metavar="FILE", help="also write all tiles into this PMTiles archive")
    parser.add_argument("--name", help="the layer's name in the archive")
    parser.add_argument("--memory", default="1G", metavar="SIZE", help="what each step may take (default: 1G)")
    parser.add_argument("--temporary", metavar="DIR", help="a folder for temporary files (default: OUT.build)")
    parser.add_argument("--on-invalid", default="reject", choices=["reject", "skip"], help="skip leaves invalid features out")
    parser.add_argument("--resume", action="store_true", help="go on where an earlier build was ended")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing image or archive")
    parser.add_argument("--argument", action="append", default=[], metavar="TEXT", help="another argument of clusterctl build")
    given = parser.parse_args()
    text = given.options
    if text.startswith("@"):
        with open(text[1:], encoding="utf-8") as file:
            text = file.read()
    try:
        options = json.loads(text)
    except ValueError as error:
        parser.error(f"--options is no JSON: {error}")

    from pyspark.sql import SparkSession

    try:
        from clusterd_spark import BuildError, build
    except ImportError:
        # Not installed: this script lies in the package.
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        from clusterd_spark import BuildError, build

    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("clusterd_spark").setLevel(logging.INFO)
    spark = SparkSession.builder.appName(f"clusterd: {os.path.basename(given.output)}").getOrCreate()
    try:
        summary = build(
            spark, given.inputs, given.output, options, shards=given.shards, archive=given.archive, resume=given.resume,
            overwrite=given.overwrite, name=given.name, memory=given.memory, temporary=given.temporary,
            on_invalid=given.on_invalid, arguments=given.argument)
    except BuildError as error:
        sys.exit(f"clusterd-spark: {error}")
    finally:
        spark.stop()
    print(json.dumps(summary))


if __name__ == "__main__":
    main()

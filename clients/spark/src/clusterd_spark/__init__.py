# SPDX-License-Identifier: MIT
"""Builds images of clusterd, the daemon that clusters points for maps, on Apache Spark.

    from clusterd_spark import build
    build(spark, "/mnt/places/*.geojsonl", "/mnt/places.clusterd", {"clusterIds": "origin", "sortKey": ["hash", ["id"]]})
"""
from ._build import BuildError, build

__all__ = ["BuildError", "build"]
__version__ = "1.0.0"

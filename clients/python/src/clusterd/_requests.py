# SPDX-License-Identifier: MIT
"""Each method of the daemon: its name, its params, and the type of its answer."""
from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

from ._results import Feature, FeatureCollection
from ._types import BBox, Options

Answer = TypeVar("Answer")
Description = Dict[str, Any]


@dataclass(frozen=True)
class Request(Generic[Answer]):
    """A unary call that is ready to be sent."""

    method: str
    params: Dict[str, Any]
    read: Callable[[Any], Answer]


def _cluster(name: str, read: Callable[[Any], Answer], **params: Any) -> Request[Answer]:
    return Request(f"ClusterService/{name}", _present(params), read)


def _source(name: str, read: Callable[[Any], Answer], **params: Any) -> Request[Answer]:
    return Request(f"SourceService/{name}", _present(params), read)


def _present(params: Mapping[str, Any]) -> Dict[str, Any]:
    """Without the params that are None; sequences as lists, which JSON has."""
    present = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in params.items()
        if value is not None
    }
    return wire_names(present)


def wire_names(params: Mapping[str, Any]) -> Dict[str, Any]:
    """The same under the names that JSON has: at_least is atLeast."""
    return {re.sub("_([a-z])", lambda letter: letter[1].upper(), name): value for name, value in params.items()}


def clusters(source: str, bbox: BBox, zoom: float, **query: Any) -> Request[FeatureCollection]:
    return _cluster("GetClusters", FeatureCollection, source=source, bbox=list(bbox), zoom=zoom, **query)


def tile(source: str, z: int, x: int, y: int, **query: Any) -> Request[Dict[str, Any]]:
    return _cluster("GetTile", dict, source=source, z=z, x=x, y=y, **query)


def vector_tile(source: str, z: int, x: int, y: int, **query: Any) -> Request[bytes]:
    return _cluster(
        "GetTile",
        lambda answer: base64.b64decode(answer["tile"]),
        source=source, z=z, x=x, y=y, encoding="mvt", **query,
    )


def children(source: str, cluster: int, **query: Any) -> Request[FeatureCollection]:
    return _cluster("GetChildren", FeatureCollection, source=source, clusterId=cluster, **query)


def leaves(source: str, cluster: int, limit: int, offset: int, **query: Any) -> Request[FeatureCollection]:
    return _cluster(
        "GetLeaves", FeatureCollection, source=source, clusterId=cluster, limit=limit, offset=offset, **query
    )


def expansion_zoom(source: str, cluster: int, **query: Any) -> Request[int]:
    return _cluster(
        "GetClusterExpansionZoom", lambda answer: int(answer["zoom"]), source=source, clusterId=cluster, **query
    )


def hull(source: str, cluster: int, **query: Any) -> Request[Feature]:
    return _cluster("GetConvexHull", Feature, source=source, clusterId=cluster, **query)


def locate(source: str, feature: Union[int, float, str], zoom: float, **query: Any) -> Request[Dict[str, Any]]:
    return _cluster("LocateFeature", _located, source=source, featureId=feature, zoom=zoom, **query)


def top(source: str, by: str, bbox: BBox, **query: Any) -> Request[FeatureCollection]:
    return _cluster("TopFeatures", FeatureCollection, source=source, by=by, bbox=list(bbox), **query)


def features(source: str, **query: Any) -> Request[FeatureCollection]:
    return _source("GetFeatures", FeatureCollection, source=source, **query)


def histogram(source: str, property: str, bbox: BBox, **query: Any) -> Request[Dict[str, Any]]:
    return _cluster("GetHistogram", dict, source=source, property=property, bbox=list(bbox), **query)


def grid(source: str, resolution: int, bbox: BBox, **query: Any) -> Request[Dict[str, Any]]:
    return _cluster("GetGrid", dict, source=source, resolution=resolution, bbox=list(bbox), **query)


def _located(answer: Dict[str, Any]) -> Dict[str, Any]:
    return {**answer, "feature": Feature(answer["feature"])}


def create_source(source: str, options: Optional[Options]) -> Request[Description]:
    return _source("CreateSource", dict, source=source, options=None if options is None else dict(options))


def load_file(source: str, path: str, mode: str, on_invalid: str, **columns: Any) -> Request[Description]:
    return _source("LoadFile", dict, source=source, path=path, mode=mode, onInvalid=on_invalid, **columns)


def update_features(
    source: str, upsert: Sequence[Mapping[str, Any]], remove: Sequence[Union[int, float, str]]
) -> Request[Description]:
    return _source("UpdateFeatures", dict, source=source, upsert=list(upsert) or None, remove=list(remove) or None)


def update_options(source: str, options: Options) -> Request[Description]:
    return _source("UpdateOptions", dict, source=source, options=dict(options))


def delete_source(source: str) -> Request[None]:
    return _source("DeleteSource", _nothing, source=source)


def get_source(source: str) -> Request[Description]:
    return _source("GetSource", dict, source=source)


def list_sources() -> Request[List[Description]]:
    return _source("ListSources", lambda answer: list(answer["sources"]))


def evaluate(expression: Any, **context: Any) -> Request[Any]:
    request = _source("EvaluateExpression", lambda answer: answer["value"], **context)
    request.params["expression"] = expression
    return request


def check() -> Request[bool]:
    return Request("ServerService/Check", {}, lambda answer: bool(answer["status"] == "SERVING"))


def info() -> Request[Dict[str, Any]]:
    return Request("ServerService/GetServerInfo", {}, dict)


def stats() -> Request[Dict[str, Any]]:
    return Request("ServerService/GetStats", {}, dict)


def _nothing(answer: Any) -> None:
    return None

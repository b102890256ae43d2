# SPDX-License-Identifier: MIT
"""What goes into calls."""
from __future__ import annotations

from typing import Any, List, Mapping, Sequence, TypedDict, Union

#: [west, south, east, north] in degrees.
BBox = Sequence[float]
Expression = Union[List[Any], bool, float, str, None]

#: The whole world.
WORLD: BBox = (-180, -90, 180, 90)


class ClusterQuery(TypedDict, total=False):
    """Optional params of the calls that find clusters."""

    limit: int
    properties: Sequence[str]
    precision: int
    filter: Expression
    include: Sequence[str]
    revision: int
    #: A position in the log of the source's table: the call waits for it.
    at_least: str


class FeatureQuery(TypedDict, total=False):
    """Optional params of the call that lists features."""

    filter: Expression
    properties: Sequence[str]
    precision: int
    revision: int
    #: A position in the log of the source's table: the call waits for it.
    at_least: str


class IdQuery(TypedDict, total=False):
    """Optional params of the calls about one cluster."""

    filter: Expression
    revision: int
    #: A position in the log of the source's table: the call waits for it.
    at_least: str
    properties: Sequence[str]
    include: Sequence[str]


Options = Mapping[str, Any]

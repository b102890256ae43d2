#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at the map page in a real browser.

    python3 map_page.py ADDRESS SOCKET SCENARIO...     the page's address, the daemon's socket, functions of scenarios/

The daemon has the sources `cities` (Examples/cities.geojson), `stack` and `floor` (see MapPageTests). Exits with 1 and says
why if a scenario fails.
"""
import os, sys, traceback

from devtools import Browser
from scenarios.markers import circles, click, hover, live, gone, fan, motion, hint, aside, room
from scenarios.whole import address, framed, themes, sizes, keyboard, plane, panel, uncovered, world, ground
from scenarios.controls import filter, conditions, colours, table, search
from scenarios.values import slider, top, density, variants
from scenarios.measured import frames, drag
from scene import Scene

SCENARIOS = (
    circles, click, hover, live, gone, fan, motion, hint, aside, room,
    address, framed, themes, sizes, keyboard, plane, panel, uncovered, world, ground,
    filter, conditions, colours, table, search,
    slider, top, density, variants,
    frames, drag,
)


def where(error):
    """The scenario's line at which it ended."""
    place = traceback.extract_tb(error.__traceback__)[1:2]
    return f"{os.path.basename(place[0].filename)}, line {place[0].lineno}" if place else "?"


def main():
    base, socket, *chosen = sys.argv[1:]
    failed = False
    with Browser() as browser:
        for scenario in SCENARIOS:
            if chosen and scenario.__name__ not in chosen:
                continue
            scene = Scene(browser, base, socket)
            try:
                scenario(scene)
                print(f"ok {scenario.__name__}", flush=True)
            except Exception as error:
                failed = True
                problems = [problem for page in scene.open_pages for problem in page.problems]
                print(f"FAILED {scenario.__name__}: {str(error)[:600]} ({where(error)}) {problems[:1]}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

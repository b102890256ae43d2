# SPDX-License-Identifier: MIT
"""The rows of Benchmarks/results.md that one script measures, known by how they begin."""
import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results.md")


def row(what, own, peer, times):
    return f"| {what} | {own} | {peer} | {times:.1f} |"


def kept(mark):
    """The rows that begin with a mark."""
    return [line for line in _lines() if line.startswith(mark)]


def replace(mark, rows):
    """Puts rows in place of those that begin with a mark, and prints them."""
    lines = [line for line in _lines() if not line.startswith(mark)] + rows
    with open(PATH, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(rows))


def _lines():
    if not os.path.exists(PATH):
        return []
    with open(PATH, encoding="utf-8") as file:
        return file.read().splitlines()

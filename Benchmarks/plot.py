# SPDX-License-Identifier: MIT
"""Line charts as SVG, with logarithmic scales on both axes."""
import math

LEFT, RIGHT, TOP, BOTTOM = 70, 570, 60, 330


def chart(path, title, series, columns, rows):
    """Writes a chart.

    series: (name, colour, points) of each line, where points are pairs (x, y). columns and rows: the positions that
    have a label, as pairs (value, label) in ascending order; the first and last ones are the chart's borders.
    """
    def scale(value, ticks, low, high):
        first, last = math.log(ticks[0][0]), math.log(ticks[-1][0])
        return low + (high - low) * (math.log(value) - first) / (last - first)

    def x(value): return scale(value, columns, LEFT, RIGHT)
    def y(value): return scale(value, rows, BOTTOM, TOP)

    height = 380 + 16 * ((len(series) + 1) // 2)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="640" height="{height}" fill="white"/>', f'<text x="{LEFT}" y="30" font-size="15">{title}</text>']
    for value, label in rows:
        lines.append(f'<path d="M{LEFT} {y(value):.0f}H{RIGHT}" stroke="#ddd"/><text x="{LEFT - 8}" y="{y(value) + 4:.0f}" '
                     f'text-anchor="end">{label}</text>')
    lines += [f'<text x="{x(value):.0f}" y="{BOTTOM + 20}" text-anchor="middle">{label}</text>' for value, label in columns]
    for place, (name, colour, points) in enumerate(series):
        drawn = [(x(a), y(b)) for a, b in points]
        if drawn:
            path_data = " L".join(f"{a:.1f} {b:.1f}" for a, b in drawn)
            lines.append(f'<path d="M{path_data}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>' for a, b in drawn]
        lines.append(f'<text x="{LEFT + 260 * (place % 2)}" y="{BOTTOM + 44 + 16 * (place // 2)}" fill="{colour}">{name}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n</svg>\n")


def seconds(low, high):
    """Labels of the powers of ten from low to high."""
    return [(10 ** power, f"{10 ** power:g} s") for power in range(low, high + 1)]


def counts(low, high):
    """Labels of the powers of ten from low to high as numbers of points."""
    return [(10 ** power, f"{10 ** power:,}") for power in range(low, high + 1)]

// SPDX-License-Identifier: MIT
// The ground as a style of MapLibre GL.
import { lightColours } from "./painting.js";

/**
 * A style that has the ground only.
 * @param {string} url of its vector tiles: a daemon's /ground/tiles.json, or an archive's
 * @param {import("./painting.js").Colours} [colours]
 */
export function groundStyle(url, colours = lightColours) {
    const layer = (name, type, paint, more = {}) => ({ id: `ground-${name}-${type}`, type, source: "ground", "source-layer": name, paint, maxzoom: 9, ...more });
    return {
        version: 8,
        sources: { ground: { type: "vector", url } },
        layers: [
            { id: "ground-sea", type: "background", paint: { "background-color": ["step", ["zoom"], colours.sea, 9, colours.land] } },
            layer("land", "fill", { "fill-color": colours.land }),
            layer("urban", "fill", { "fill-color": colours.urban }, { minzoom: 4 }),
            layer("lake", "fill", { "fill-color": colours.sea }),
            layer("river", "line", { "line-color": colours.river, "line-width": ["step", ["zoom"], 0.6, 4, 1, 6, 1.4] }),
            layer("border", "line", { "line-color": colours.border }),
        ],
    };
}

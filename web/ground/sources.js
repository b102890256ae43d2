// SPDX-License-Identifier: MIT
// Where the ground's tiles come from: a daemon, or an archive beside the page. Each is read once.
import { Archive } from "./archive.js";
import { readVectorTile } from "./vector-tile.js";

/** The deepest tiles; deeper zooms are drawn from them. */
export const deepestTiles = 4;

/** @typedef {(zoom: number, x: number, y: number) => Promise<Map<string, import("./vector-tile.js").TileFeature[]>>} TileSource */

/**
 * Tiles that something reads, such as `daemonTiles`. They are small and few: those of all zooms together have 2 MB when
 * they are read.
 * @param {(zoom: number, x: number, y: number) => Promise<ArrayBuffer|undefined>} read undefined for an empty tile
 */
export function remembering(read) {
    const tiles = new Map();
    return (zoom, x, y) => {
        const key = `${zoom}/${x}/${y}`;
        if (!tiles.has(key)) {
            const tile = read(zoom, x, y).then((bytes) => (bytes ? readVectorTile(bytes) : new Map()));
            // A tile that could not be read is asked for again.
            tile.catch(() => tiles.delete(key));
            tiles.set(key, tile);
        }
        return tiles.get(key);
    };
}

/** @returns {TileSource} */
export const daemonTiles = (base = "") => remembering(async (zoom, x, y) => {
    const answer = await fetch(`${base}/ground/${zoom}/${x}/${y}.mvt`);
    if (answer.status === 204) return undefined;
    if (!answer.ok) throw new Error(`the ground's tile: ${answer.status} ${answer.statusText}`);
    return answer.arrayBuffer();
});

/** @returns {TileSource} */
export function archiveTiles(url) {
    const archive = new Archive(url);
    return remembering((zoom, x, y) => archive.tile(zoom, x, y));
}

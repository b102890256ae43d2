// SPDX-License-Identifier: MIT
// One tile of the ground on a canvas, for any map that shows pictures.
import { deepestGround, lightColours, paintGrid, paintGround, partOf } from "./painting.js";
import { deepestTiles } from "./sources.js";

/**
 * Draws a tile. A tile whose data cannot be read is sea with a grid.
 * @param {HTMLCanvasElement|OffscreenCanvas} canvas
 * @param {import("./sources.js").TileSource} tiles
 * @param {number} zoom of tiles of 512 pixels
 * @param {number} x of any copy of the world
 * @param {number} y
 * @param {{size?: number, ratio?: number, colours?: import("./painting.js").Colours}} [how] the side in CSS pixels, and how many
 *   of the screen each has
 */
export async function paintTile(canvas, tiles, zoom, x, y, { size = 512, ratio = 1, colours = lightColours } = {}) {
    canvas.width = canvas.height = size * ratio;
    const side = 2 ** zoom;
    const column = ((x % side) + side) % side;
    const isWorld = y >= 0 && y < side;
    const hasGround = isWorld && zoom <= deepestGround;
    const part = partOf(zoom, column, y, deepestTiles);
    const layers = hasGround ? await tiles(part.zoom, part.x, part.y).catch(() => new Map()) : new Map();
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.fillStyle = zoom > deepestGround ? colours.land : colours.sea;
    context.fillRect(0, 0, size, size);
    if (!isWorld) return;
    paintGrid(context, zoom, column, y, size, colours);
    if (hasGround) paintGround(context, layers, part, size, zoom, colours);
}

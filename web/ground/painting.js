// SPDX-License-Identifier: MIT
// Draws a tile of the ground on a canvas: areas, lines, and beyond the zooms that they are made for, a grid.

/** The deepest zoom at which coasts and borders are as exact as the screen; deeper, a grid is drawn instead. */
export const deepestGround = 8;

/** @typedef {Record<"sea"|"land"|"coast"|"border"|"graticule"|"urban"|"river"|"town"|"grid", string>} Colours */

/** @type {Colours & {halo: string}} */
export const lightColours = {
    sea: "#e4eef5", land: "#faf8f3", coast: "#9fb2c1", border: "#cfc8bb", graticule: "#d3e0ea", urban: "#ece5d6", river: "#b9d3e6",
    town: "#4b5a68", grid: "#dfe3e6", halo: "#ffffff",
};

/**
 * The part of a tile that a tile of a deeper zoom shows.
 * @returns {{zoom: number, x: number, y: number, scale: number, left: number, top: number}} `left` and `top` are parts of the
 *   tile's side
 */
export function partOf(zoom, x, y, deepest) {
    const steps = Math.max(0, zoom - deepest);
    const scale = 2 ** steps;
    const [column, row] = [Math.floor(x / scale), Math.floor(y / scale)];
    return { zoom: zoom - steps, x: column, y: row, scale, left: x / scale - column, top: y / scale - row };
}

/**
 * Draws areas and lines.
 * @param {CanvasRenderingContext2D} context
 * @param {Map<string, import("./vector-tile.js").TileFeature[]>} layers
 * @param {ReturnType<typeof partOf>} part
 * @param {number} size the canvas's side in CSS pixels
 * @param {number} zoom
 * @param {Colours} colours
 */
export function paintGround(context, layers, part, size, zoom, colours) {
    const isEdge = edgeTest(part);
    const trace = (paths, skipsEdges) => {
        context.beginPath();
        for (const path of paths) {
            let isDrawn = false;
            for (let at = 0; at < path.length; at += 2) {
                const x = (path[at] - part.left) * part.scale * size;
                const y = (path[at + 1] - part.top) * part.scale * size;
                const isGap = at === 0 || (skipsEdges && isEdge(path, at));
                if (isGap) context.moveTo(x, y);
                else context.lineTo(x, y);
                isDrawn ||= !isGap;
            }
        }
    };
    const fill = (layer, colour) => {
        context.fillStyle = colour;
        for (const { paths } of layers.get(layer) ?? []) {
            trace(paths, false);
            context.fill("evenodd");
        }
    };
    const stroke = (layer, colour, width, skipsEdges = false) => {
        context.strokeStyle = colour;
        context.lineWidth = width;
        context.lineJoin = "round";
        for (const { paths } of layers.get(layer) ?? []) {
            trace(paths, skipsEdges);
            context.stroke();
        }
    };
    fill("land", colours.land);
    if (zoom >= 4) fill("urban", colours.urban);
    fill("lake", colours.sea);
    stroke("river", colours.river, zoom < 4 ? 0.6 : zoom < 6 ? 1 : 1.4);
    stroke("border", colours.border, zoom < 4 ? 0.8 : 1.1);
    stroke("lake", colours.coast, 0.6);
    stroke("land", colours.coast, zoom < 4 ? 0.8 : 1, true);
}

/** The antimeridian and the south pole, along which land is cut, are no coast. */
function edgeTest({ zoom, x, y }) {
    const side = 2 ** zoom;
    const isCut = (value) => Math.abs(value) < 2e-4 * side || Math.abs(value - side) < 2e-4 * side;
    return (path, at) =>
        (isCut(x + path[at - 2]) && isCut(x + path[at])) || Math.min(y + path[at - 1], y + path[at + 1]) > 0.97 * side;
}

/** Web Mercator: a latitude's place from the north, as a part of the world's side. */
export function northing(latitude) {
    const sine = Math.sin((latitude * Math.PI) / 180);
    return 0.5 - (0.25 * Math.log((1 + sine) / (1 - sine))) / Math.PI;
}

export const latitudeAt = (part) => (360 / Math.PI) * Math.atan(Math.exp(Math.PI * (1 - 2 * part))) - 90;

const steps = [30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001];

/** The distance of the grid's lines in degrees: about one for each 128 pixels, or 30 or 10 degrees with ground. */
export function gridStep(zoom) {
    if (zoom <= deepestGround) return zoom < 2 ? 30 : 10;
    const degrees = 360 / 2 ** zoom / 4;
    return steps.findLast((step) => step >= degrees) ?? steps[0];
}

const degreesText = (value, step) => {
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return `${Math.abs(value).toFixed(decimals)}°`;
};

/** Where a line's degrees begin: after the line, or before it if they would be cut off at the tile's edge. */
export const degreesLeft = (line, width, size) => (line + 3 + width <= size ? line + 3 : line - 3 - width);

/** The base of a line's degrees: above the line, or below it if they would be cut off at the tile's edge. */
export const degreesBase = (line) => (line >= 14 ? line - 3 : line + 11);

/** Draws lines of equal longitude and latitude; beyond the ground with their degrees. */
export function paintGrid(context, zoom, x, y, size, colours) {
    const side = 2 ** zoom;
    const step = gridStep(zoom);
    const hasTexts = zoom > deepestGround;
    context.lineWidth = 1;
    context.strokeStyle = hasTexts ? colours.grid : colours.graticule;
    context.fillStyle = colours.town;
    context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const west = (x / side) * 360 - 180;
    const east = west + 360 / side;
    const [north, south] = [latitudeAt(y / side), latitudeAt((y + 1) / side)];
    context.beginPath();
    const texts = [];
    for (let number = Math.ceil(west / step); number * step < east; number += 1) {
        const at = Math.round(((number * step - west) / (east - west)) * size) + 0.5;
        context.moveTo(at, 0);
        context.lineTo(at, size);
        if (!hasTexts) continue;
        const text = degreesText(number * step, step) + (number < 0 ? "W" : number > 0 ? "E" : "");
        texts.push([text, degreesLeft(at, context.measureText(text).width, size), size / 2 - 4]);
    }
    for (let number = Math.ceil(south / step); number * step < north; number += 1) {
        const latitude = number * step;
        if (Math.abs(latitude) > 85) continue;
        const at = Math.round((northing(latitude) * side - y) * size) + 0.5;
        context.moveTo(0, at);
        context.lineTo(size, at);
        if (hasTexts) texts.push([degreesText(latitude, step) + (number < 0 ? "S" : number > 0 ? "N" : ""), size / 2 + 4, degreesBase(at)]);
    }
    context.stroke();
    for (const [text, left, bottom] of texts) context.fillText(text, left, bottom);
}

// SPDX-License-Identifier: MIT
// Land and borders, drawn from the outline that the daemon serves, sharp at every zoom.
/* global L */
import { tileSize } from "./projection.js";
import { colour } from "./theme.js";

/** Web Mercator's unit square. */
function project([longitude, latitude]) {
    const sine = Math.sin((Math.max(-85.05113, Math.min(85.05113, latitude)) * Math.PI) / 180);
    return [longitude / 360 + 0.5, 0.5 - (0.25 * Math.log((1 + sine) / (1 - sine))) / Math.PI];
}

/** Lines in the unit square with the box around them. */
function shape(lines) {
    const projected = lines.map((line) => line.map(project));
    const points = projected.flat();
    const xs = points.map((point) => point[0]);
    const ys = points.map((point) => point[1]);
    return { lines: projected, box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] };
}

/** The antimeridian and the south pole, along which the outline is cut, are no coast. */
const isCut = (one, other) =>
    (Math.abs(one[0] - 0.5) > 0.4997 && Math.abs(other[0] - 0.5) > 0.4997) || Math.min(one[1], other[1]) > 0.97;

export const WorldLayer = L.GridLayer.extend({
    options: { tileSize, attribution: "Natural Earth", keepBuffer: 1, updateWhenZooming: false },

    initialize(outline, options) {
        L.GridLayer.prototype.initialize.call(this, options);
        const parts = (kind) =>
            outline.features.filter((feature) => feature.properties.kind === kind)
                .flatMap((feature) => feature.geometry.coordinates);
        this.land = parts("land").map((polygon) => shape(polygon));
        this.borders = parts("borders").map((line) => shape([line]));
    },

    createTile({ x, y, z }) {
        const tile = document.createElement("canvas");
        const ratio = Math.min(window.devicePixelRatio || 1, 2);
        tile.width = tile.height = tileSize * ratio;
        const context = tile.getContext("2d");
        context.scale(ratio, ratio);
        const side = 2 ** z;
        const column = ((x % side) + side) % side;
        context.fillStyle = colour("sea");
        context.fillRect(0, 0, tileSize, tileSize);
        if (y < 0 || y >= side) return tile;
        const margin = 2 / tileSize / side;
        const isSeen = ({ box }) =>
            box[0] < (column + 1) / side + margin && box[2] > column / side - margin &&
            box[1] < (y + 1) / side + margin && box[3] > y / side - margin;
        const pixel = (point) => [(point[0] * side - column) * tileSize, (point[1] * side - y) * tileSize];
        this.drawGraticule(context, column, y, side);
        for (const polygon of this.land.filter(isSeen)) this.drawLand(context, polygon, pixel);
        context.strokeStyle = colour("border");
        context.lineWidth = 0.8;
        for (const border of this.borders.filter(isSeen)) {
            context.beginPath();
            for (const line of border.lines) line.forEach((point, index) => (index ? context.lineTo(...pixel(point)) : context.moveTo(...pixel(point))));
            context.stroke();
        }
        return tile;
    },

    drawLand(context, polygon, pixel) {
        context.fillStyle = colour("land");
        context.beginPath();
        for (const ring of polygon.lines) {
            ring.forEach((point, index) => (index ? context.lineTo(...pixel(point)) : context.moveTo(...pixel(point))));
            context.closePath();
        }
        context.fill("evenodd");
        context.strokeStyle = colour("coast");
        context.lineWidth = 0.8;
        context.beginPath();
        for (const ring of polygon.lines) {
            let isDrawn = false;
            ring.forEach((point, index) => {
                const follows = index > 0 && !isCut(ring[index - 1], point);
                if (follows && !isDrawn) context.moveTo(...pixel(ring[index - 1]));
                if (follows) context.lineTo(...pixel(point));
                isDrawn = follows;
            });
        }
        context.stroke();
    },

    /** A line every 10 degrees, and at small zooms every 30. */
    drawGraticule(context, column, y, side) {
        const step = side < 4 ? 30 : 10;
        context.strokeStyle = colour("graticule");
        context.lineWidth = 1;
        context.beginPath();
        for (let longitude = -180; longitude < 180; longitude += step) {
            const x = ((longitude / 360 + 0.5) * side - column) * tileSize;
            if (x >= 0 && x < tileSize) context.moveTo(x, 0), context.lineTo(x, tileSize);
        }
        for (let latitude = -80; latitude <= 80; latitude += step) {
            const top = (project([0, latitude])[1] * side - y) * tileSize;
            if (top >= 0 && top < tileSize) context.moveTo(0, top), context.lineTo(tileSize, top);
        }
        context.stroke();
    },
});

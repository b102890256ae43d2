// SPDX-License-Identifier: MIT
// How much room the markers of a view leave each other. Pure.

/** Numbers smaller than this are not read. */
export const leastFont = 8.5;
/** The size of a number that has no room within its circle's core. */
const tightFont = 9.5;

/** Each point's distance to its nearest neighbour, found by a grid of cells. */
export function nearestDistances(points, reach) {
    const cells = new Map();
    const key = (x, y) => x * 100_003 + y;
    const cellOf = ({ x, y }) => [Math.floor(x / reach), Math.floor(y / reach)];
    points.forEach((point, index) => {
        const place = key(...cellOf(point));
        if (cells.has(place)) cells.get(place).push(index);
        else cells.set(place, [index]);
    });
    return points.map((point, index) => {
        const [column, row] = cellOf(point);
        let least = Infinity;
        for (let x = column - 1; x <= column + 1; x += 1) {
            for (let y = row - 1; y <= row + 1; y += 1) {
                for (const other of cells.get(key(x, y)) ?? []) {
                    if (other === index) continue;
                    least = Math.min(least, Math.hypot(points[other].x - point.x, points[other].y - point.y));
                }
            }
        }
        return least;
    });
}

/**
 * What each circle can show without covering another: a core of at most half the distance to the nearest neighbour, and a
 * number where there is room for one. The rest of the circle is drawn beneath.
 * @param {{x: number, y: number, radius: number, text: string, weight: number}[]} circles
 * @param {(text: string, radius: number) => number} fit the font of a text in a circle
 * @returns {{radius: number, isCrowded: boolean, font: number|undefined}[]}
 */
export function roomOf(circles, fit) {
    const largest = circles.reduce((most, { radius }) => Math.max(most, radius), 1);
    const distances = nearestDistances(circles, 2 * largest);
    const rooms = circles.map(({ radius, text }, index) => {
        const core = Math.max(3, Math.min(radius, distances[index] / 2 - 0.5));
        const font = fit(text, core);
        return { radius: core, isCrowded: core < radius - 0.5, font: text === "" || font >= leastFont ? font : tightFont };
    });
    // A number that is wider than its core goes only where no number of a larger cluster is.
    const order = circles.map((_, index) => index).filter((index) => circles[index].text !== "")
        .sort((one, other) => circles[other].weight - circles[one].weight);
    const boxes = new Map();
    const size = 48;
    for (const index of order) {
        const { x, y, text } = circles[index];
        const [half, height] = [(text.length * 0.6 * rooms[index].font) / 2, rooms[index].font / 2];
        const box = [x - half, y - height, x + half, y + height];
        const places = [];
        for (let column = Math.floor(box[0] / size); column <= Math.floor(box[2] / size); column += 1) {
            for (let row = Math.floor(box[1] / size); row <= Math.floor(box[3] / size); row += 1) places.push(`${column} ${row}`);
        }
        const isFree = places.every((place) => (boxes.get(place) ?? []).every((other) =>
            box[0] >= other[2] || box[2] <= other[0] || box[1] >= other[3] || box[3] <= other[1]));
        if (!isFree) {
            rooms[index].font = undefined;
            continue;
        }
        for (const place of places) boxes.set(place, [...(boxes.get(place) ?? []), box]);
    }
    return rooms;
}

/**
 * The marker whose core is at a point. Cores cover no other, so there is one at most.
 * @param {Iterable<{point: {x: number, y: number}, coreRadius?: number}>} markers
 * @param {{x: number, y: number}} at
 */
export function coreAt(markers, at) {
    for (const marker of markers) {
        const { point, coreRadius = 0 } = marker;
        if (Math.hypot(point.x - at.x, point.y - at.y) <= coreRadius) return marker;
    }
    return undefined;
}

// SPDX-License-Identifier: MIT
// Which towns' names a map has room for.

/** Ranks are Natural Earth's, 0 for the largest towns to 10. */
export const isNamed = (rank, zoom) => rank <= (zoom < 2 ? -1 : zoom < 3 ? 1 : zoom < 4 ? 2 : zoom < 5 ? 4 : zoom < 6 ? 6 : zoom < 7 ? 7 : 10);

/** Names end where streets begin: the outline has no more towns. */
export const deepestNames = 12;

/**
 * The towns whose names fit, the most important first, so that none runs into another.
 * @param {{name: string, rank: number, capital?: boolean, x: number, y: number}[]} towns in pixels
 * @param {(text: string) => number} widthOf
 */
export function namesWithRoom(towns, widthOf) {
    const order = [...towns].sort((one, other) => one.rank - other.rank || Number(other.capital ?? 0) - Number(one.capital ?? 0));
    const taken = [];
    const seen = new Set();
    return order.filter((town) => {
        const key = `${town.name} ${Math.round(town.x)} ${Math.round(town.y)}`;
        if (seen.has(key)) return false;
        seen.add(key);
        const box = [town.x - 6, town.y - 10, town.x + 10 + widthOf(town.name), town.y + 10];
        const isFree = taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
        if (isFree) taken.push(box);
        return isFree;
    });
}

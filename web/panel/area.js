// SPDX-License-Identifier: MIT
// The area of a polygon. Pure.

const radius = 6371.0088;

/** The area that a ring of positions encloses on the Earth, in square kilometres. */
export function areaOnEarth(ring) {
    let sum = 0;
    for (let at = 0; at + 1 < ring.length; at += 1) {
        const [[x1, y1], [x2, y2]] = [ring[at], ring[at + 1]].map(([x, y]) => [(x * Math.PI) / 180, (y * Math.PI) / 180]);
        sum += (x2 - x1) * (2 + Math.sin(y1) + Math.sin(y2));
    }
    return (Math.abs(sum) / 2) * radius ** 2;
}

/** The area that a ring of positions encloses on a plane, in its units. */
export function areaOnPlane(ring) {
    let sum = 0;
    for (let at = 0; at + 1 < ring.length; at += 1) sum += ring[at][0] * ring[at + 1][1] - ring[at + 1][0] * ring[at][1];
    return Math.abs(sum) / 2;
}

const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });

/** A hull's area in words: 12,300 km², or what it is instead. */
export function areaText({ geometry }, isPlane) {
    if (geometry.type === "Point") return "all at one position";
    if (geometry.type !== "Polygon") return "on one line";
    const [ring] = geometry.coordinates;
    if (isPlane) return `${number(areaOnPlane(ring))} square units`;
    const area = areaOnEarth(ring);
    return area < 0.1 ? `${number(area * 1e6)} m²` : `${number(area)} km²`;
}

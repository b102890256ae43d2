// SPDX-License-Identifier: MIT
// Zoom levels as the daemon counts them, the world or the plane that a source is on, and the part of it in view.
/* global L */

/** The daemon's tiles are 512 pixels wide at every zoom, Leaflet's 256: with this the zoom is the same in both. */
export const tileSize = 512;

const scales = {
    scale: (zoom) => tileSize * 2 ** zoom,
    zoom: (scale) => Math.log2(scale / tileSize),
};

export const crs = L.Util.extend({}, L.CRS.EPSG3857, scales);

/**
 * The lowest zoom of a map, at which all of the world or plane is in sight, in hundredths as in the address; with the option
 * `fillsBox` the world is exactly as wide as the box.
 */
function leastZoom(map) {
    const { x, y } = map.getSize();
    if (map.options.fillsBox) return Math.log2((x || tileSize) / tileSize);
    return Math.min(0, Math.floor(100 * Math.log2((Math.min(x, y) || tileSize) / tileSize)) / 100);
}

/** A map on which the whole world fits, however small the screen is. Its lowest zoom may lie between two levels. */
export const WorldMap = L.Map.extend({
    initialize(id, options) {
        L.Map.prototype.initialize.call(this, id, { crs, zoomControl: false, attributionControl: false, ...options });
        this.setMinZoom(leastZoom(this));
        this.on("resize", () => this.setMinZoom(leastZoom(this)));
    },

    /** Leaflet rounds zooms to levels, and would leave out one between two of them. */
    _limitZoom(zoom) {
        if (this.options.fillsBox) return L.Map.prototype._limitZoom.call(this, zoom);
        const least = this.getMinZoom();
        if (zoom < 0) return zoom < least / 2 ? least : 0;
        // A step up from the lowest zoom leads to the next level.
        if (this._zoom < 0 && zoom < 1) return 0;
        return L.Map.prototype._limitZoom.call(this, zoom);
    },
});

/** A plane in its own units: the longer side of the box is one tile at zoom 0, and y grows upwards. */
function planarCRS([minX, minY, maxX, maxY]) {
    const side = Math.max(maxX - minX, maxY - minY);
    const transformation = L.transformation(1 / side, -minX / side, -1 / side, maxY / side);
    return L.Util.extend({}, L.CRS.Simple, scales, { transformation });
}

/** The box of a source's plane; undefined if the source is on the world. */
export const planeOf = (description) => description?.options?.projection?.planar;

let plane;

/** Makes the map show the plane or the world. Returns whether that is a change; the view has to be set afterwards then, with `reset`. */
export function use(map, newPlane) {
    if (JSON.stringify(newPlane) === JSON.stringify(plane)) return false;
    plane = newPlane;
    map.options.crs = plane ? planarCRS(plane) : crs;
    map.options.maxBounds = plane
        ? L.latLngBounds([[plane[1], plane[0]], [plane[3], plane[2]]]).pad(0.5) : L.latLngBounds([[-85.06, -Infinity], [85.06, Infinity]]);
    return true;
}

/** The viewport to watch: [west, south, east, north], the whole breadth if the world is narrower, and the zoom of its clusters. */
export function viewport(map, centre = map.getCenter(), mapZoom = map.getZoom()) {
    const half = map.getSize().divideBy(2);
    const middle = map.project(centre, mapZoom);
    const northWest = map.unproject(middle.subtract(half), mapZoom);
    const southEast = map.unproject(middle.add(half), mapZoom);
    const zoom = Math.max(0, mapZoom);
    if (plane) {
        const within = (value, low, high) => Math.max(low, Math.min(high, value));
        const [minX, minY, maxX, maxY] = plane;
        return {
            bbox: [
                within(northWest.lng, minX, maxX), within(southEast.lat, minY, maxY), within(southEast.lng, minX, maxX),
                within(northWest.lat, minY, maxY),
            ],
            zoom,
        };
    }
    const isWhole = southEast.lng - northWest.lng >= 360 - 1e-9;
    const wrapped = (longitude) => ((((longitude + 180) % 360) + 360) % 360) - 180;
    const rounded = (degrees) => Math.round(degrees * 1e7) / 1e7;
    return {
        bbox: [
            isWhole ? -180 : rounded(wrapped(northWest.lng)), Math.max(-90, rounded(southEast.lat)),
            isWhole ? 180 : rounded(wrapped(southEast.lng)), Math.min(90, rounded(northWest.lat)),
        ],
        zoom,
    };
}

/** A GeoJSON position as Leaflet's, in the copy of the world that is nearest to the map's centre. */
export function latLng(map, [longitude, latitude]) {
    if (plane) return L.latLng(latitude, longitude);
    const centre = map.getCenter().lng;
    return L.latLng(latitude, longitude + Math.round((centre - longitude) / 360) * 360);
}

/** 52.52°N 13.41°E, or x and y on a plane. */
export function positionText([longitude, latitude]) {
    const rounded = (value) => Math.round(value * 1e5) / 1e5;
    if (plane) return `${rounded(longitude)}, ${rounded(latitude)}`;
    const part = (value, positive, negative) => `${Math.abs(rounded(value))}°${value < 0 ? negative : positive}`;
    return `${part(latitude, "N", "S")} ${part(longitude, "E", "W")}`;
}

// SPDX-License-Identifier: MIT
// Zoom levels as the daemon counts them, and the part of the world that a view shows.
/* global L */

/** The daemon's tiles are 512 pixels wide at every zoom, Leaflet's 256: with this the zoom is the same in both. */
export const tileSize = 512;

export const crs = L.Util.extend({}, L.CRS.EPSG3857, {
    scale: (zoom) => tileSize * 2 ** zoom,
    zoom: (scale) => Math.log2(scale / tileSize),
});

/** The viewport to watch: [west, south, east, north] in degrees, the whole breadth if the world is narrower. */
export function viewport(map, centre = map.getCenter(), zoom = map.getZoom()) {
    const half = map.getSize().divideBy(2);
    const middle = map.project(centre, zoom);
    const northWest = map.unproject(middle.subtract(half), zoom);
    const southEast = map.unproject(middle.add(half), zoom);
    const isWhole = southEast.lng - northWest.lng >= 360;
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
    const centre = map.getCenter().lng;
    return L.latLng(latitude, longitude + Math.round((centre - longitude) / 360) * 360);
}

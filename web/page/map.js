// SPDX-License-Identifier: MIT
// The map, what lies below the markers, and where it begins.
/* global L */
import * as api from "../api.js";
import { element, make } from "../dom.js";
import { GroundLayer } from "../ground/layer.js";
import { daemonTiles } from "../ground/sources.js";
import { planeOf, use, WorldMap } from "../projection.js";
import { description } from "./state.js";

export const map = new WorldMap("map", {
    maxZoom: 22, worldCopyJump: false, boxZoom: false, maxBounds: [[-85.06, -Infinity], [85.06, Infinity]], maxBoundsViscosity: 1,
});
L.control.zoom({ position: "bottomright" }).addTo(map);
L.control.attribution({ position: "bottomright", prefix: false }).addTo(map);
map.setView([20, 0], 1);
new ResizeObserver(() => map.invalidateSize({ animate: false })).observe(map.getContainer());

/** Whether the screen has no room for what a larger one shows beside the map. */
export const smallScreen = matchMedia("(max-width: 640px)");
// Somebody may ask for the legend.
if (smallScreen.matches) element("legend").open = false;

const scaleBar = L.control.scale({ position: "bottomright", imperial: false });
/** The world's map, and the edge of the source's plane, if it has one. */
let ground, edge;

export const focusMap = () => map.getContainer().focus({ preventScroll: true });

export function currentView() {
    const centre = planeOf(description()) ? map.getCenter() : map.getCenter().wrap();
    return { zoom: Math.round(map.getZoom() * 100) / 100, latitude: centre.lat, longitude: centre.lng };
}

/** Shows all of the source. */
export function goHome(options) {
    const bbox = description()?.bbox;
    const plane = planeOf(description());
    if (plane) return void map.fitBounds([[plane[1], plane[0]], [plane[3], plane[2]]], { padding: [20, 20], ...options });
    if (!bbox) return void map.setView([20, 0], 1, options);
    const east = bbox[2] < bbox[0] ? bbox[2] + 360 : bbox[2];
    // The poles of a source of the whole world would take half of the screen.
    const isTall = bbox[3] - bbox[1] > 120;
    const [south, north] = isTall ? [-56, 75] : [Math.max(bbox[1], -80), Math.min(bbox[3], 83)];
    map.fitBounds([[south, bbox[0]], [north, east]], { padding: [20, 20], maxZoom: 14, ...options });
}

/** The world's map below the markers, or the edge of the source's plane. */
export function showGround() {
    const plane = planeOf(description());
    if (!use(map, plane)) return;
    edge?.remove();
    edge = undefined;
    // A new projection takes effect with a new view.
    map.setView([0, 0], 0, { reset: true, animate: false });
    if (plane) {
        edge = L.rectangle([[plane[1], plane[0]], [plane[3], plane[2]]], { className: "plane", interactive: false }).addTo(map);
        ground?.remove();
        scaleBar.remove();
    } else if (ground && !map.hasLayer(ground)) {
        ground.addTo(map);
        scaleBar.addTo(map);
    }
}

export async function addGround() {
    const { basemap } = await api.settings().catch(() => ({}));
    if (basemap) {
        ground = L.tileLayer(basemap.url, { tileSize: 256, zoomOffset: 1, minZoom: -Infinity, minNativeZoom: 0, maxNativeZoom: 18 });
        // The attribution is a text: what a configuration says is not run either.
        ground.options.attribution = make("span", {}, basemap.attribution).innerHTML;
    } else {
        ground = new GroundLayer(daemonTiles());
    }
    if (!edge) {
        ground.addTo(map);
        scaleBar.addTo(map);
    }
}

/** Draws it again, in the colours of another theme. */
export const redrawGround = () => ground?.redraw();

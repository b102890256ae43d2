// SPDX-License-Identifier: MIT
// The page beside a published archive: the same map without a daemon, from files of any web server.
/* global L */
import { showLegend } from "./colour/legend.js";
import { element } from "./dom.js";
import { Fan, mostLeaves } from "./fan.js";
import { Archive } from "./ground/archive.js";
import { GroundLayer } from "./ground/layer.js";
import { latitudeAt, northing } from "./ground/painting.js";
import { archiveTiles } from "./ground/sources.js";
import { readVectorTile } from "./ground/vector-tile.js";
import { Hint } from "./hint.js";
import { isCluster } from "./marker.js";
import { MarkerLayer } from "./marker-layer.js";
import { counted } from "./numbers.js";
import { Panel } from "./panel/panel.js";
import { WorldMap } from "./projection.js";
import * as theme from "./theme.js";

const archiveName = document.querySelector("meta[name=archive]").content;
const archive = new Archive(new URL(archiveName, location.href).href);
/** How far clusters zoom in on a click if the archive does not say where they separate. */
const zoomsAtOnce = 2;

const map = new WorldMap("map", { maxZoom: 18, maxBounds: [[-85.06, -Infinity], [85.06, Infinity]] });
L.control.zoom({ position: "bottomright" }).addTo(map);
L.control.attribution({ position: "bottomright", prefix: false }).addTo(map);
L.control.scale({ position: "bottomright", imperial: false }).addTo(map);

const panel = new Panel(element("details"), {
    onZoom: zoomTo, onShow: () => {}, facts: () => [], isPlane: () => false, colouring: () => undefined,
});
const markers = new MarkerLayer({
    onOpen: (marker) => {
        if (isCluster(marker.feature)) return zoomTo(marker);
        const together = markers.pointsAt(marker).map(({ feature }) => feature);
        if (together.length > 1) return fan.open(marker.latLng, together.slice(0, mostLeaves), together.length);
        return inspect(marker);
    },
    onInspect: inspect,
    onHover: (marker, way) => hint.show(marker, way),
    onLeave: () => map.getContainer().focus({ preventScroll: true }),
});

function inspect({ feature, key }) {
    panel.show({ feature, key, zoom: map.getZoom() });
    markers.select(key);
}

function zoomTo({ feature }) {
    const [longitude, latitude] = feature.geometry.coordinates;
    const zoom = feature.properties.expansionZoom ?? map.getZoom() + zoomsAtOnce;
    panel.close();
    map.setView([latitude, longitude], Math.min(zoom, map.getMaxZoom()));
}

map.setView([20, 0], 1);
const ground = new GroundLayer(archiveTiles(new URL("ground/ground.pmtiles", import.meta.url).href)).addTo(map);
markers.addTo(map);
const hint = new Hint(map, () => {});
const fan = new Fan(map, (feature) => panel.show({ feature, zoom: map.getZoom() }));
theme.start(element("theme"), () => ground.redraw());
showLegend(element("legend"));
if (matchMedia("(max-width: 640px)").matches) element("legend").open = false;
map.on("click", () => {
    if (!markers.wasPressed) panel.close();
});
addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    if (fan.isOpen) fan.close();
    else panel.close();
});

// MARK: What is in view

/** A tile's clusters and points as GeoJSON, with keys: of those in its margin, which other tiles have too, none. */
function featuresOf(layer, zoom, x, y) {
    const side = 2 ** zoom;
    return layer.flatMap(({ id, properties, paths }) => paths.filter(([left, top]) => left >= 0 && left < 1 && top >= 0 && top < 1).map(([left, top]) => {
        const coordinates = [((x + left) / side) * 360 - 180, latitudeAt((y + top) / side)];
        const own = properties.cluster ? `cluster ${properties.cluster_id}` : `point ${id ?? ""} ${coordinates.join(" ")}`;
        return { type: "Feature", id, key: own, geometry: { type: "Point", coordinates }, properties };
    }));
}

async function tilesInView() {
    const { minzoom, maxzoom } = await archive.header;
    const zoom = Math.max(minzoom, Math.min(maxzoom, Math.floor(map.getZoom())));
    const side = 2 ** zoom;
    const bounds = map.getBounds();
    const row = (latitude) => Math.max(0, Math.min(side - 1, Math.floor(northing(Math.max(-85.05, Math.min(85.05, latitude))) * side)));
    const [first, last] = [bounds.getWest(), bounds.getEast()].map((longitude) => Math.floor((longitude / 360 + 0.5) * side));
    const tiles = [];
    for (let x = first; x <= Math.min(last, first + side - 1); x += 1) {
        for (let y = row(bounds.getNorth()); y <= row(bounds.getSouth()); y += 1) tiles.push([zoom, ((x % side) + side) % side, y]);
    }
    return tiles;
}

let latest;
let layerName;

/** Shows what is in view; the last call wins. */
async function show() {
    const call = (latest = {});
    try {
        layerName ??= (await archive.metadata()).vector_layers[0].id;
        const tiles = await tilesInView();
        const found = await Promise.all(tiles.map(async (place) => {
            const bytes = await archive.tile(...place);
            return bytes ? featuresOf(readVectorTile(bytes).get(layerName) ?? [], ...place) : [];
        }));
        if (call !== latest) return;
        const features = new Map(found.flat().map((feature) => [feature.key, feature]));
        markers.apply({
            add: [...features.values()].filter(({ key }) => !markers.markers.has(key)),
            remove: [...markers.markers.keys()].filter((key) => !features.has(key)),
        });
        const { clusters, points } = markers.countShown();
        element("counts").textContent = `${counted(clusters, "cluster")}, ${counted(points, "point")}`;
        document.documentElement.dataset.state = "live";
    } catch (error) {
        element("notice").textContent = `The archive cannot be read: ${error.message}`;
        element("notice").hidden = false;
    }
}

async function begin() {
    const { bounds: [west, south, east, north] } = await archive.header;
    const { name } = await archive.metadata();
    if (name) element("title").textContent = document.title = name;
    const goHome = () => map.fitBounds([[Math.max(south, -60), west], [Math.min(north, 78), east]], { padding: [20, 20], animate: false });
    element("home").addEventListener("click", goHome);
    const [zoom, latitude, longitude] = location.hash.slice(1).split("/").map(Number);
    if (Number.isFinite(longitude)) map.setView([latitude, longitude], zoom, { animate: false });
    else goHome();
    map.on("moveend", () => {
        const centre = map.getCenter().wrap();
        history.replaceState(null, "", `#${Math.round(map.getZoom() * 100) / 100}/${centre.lat.toFixed(5)}/${centre.lng.toFixed(5)}`);
        show();
    });
    show();
}

begin().catch((error) => {
    element("notice").textContent = `The archive ${archiveName} cannot be read: ${error.message}`;
    element("notice").hidden = false;
});

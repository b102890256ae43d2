// SPDX-License-Identifier: MIT
// The map page: puts its parts together.
/* global L */
import * as address from "./address.js";
import * as api from "./api.js";
import { Details } from "./details.js";
import { Fan, mostLeaves } from "./fan.js";
import { Hull } from "./hull.js";
import { isCluster } from "./marker.js";
import { MarkerLayer } from "./marker-layer.js";
import { crs, planeOf, use, viewport } from "./projection.js";
import { Status } from "./status.js";
import * as theme from "./theme.js";
import { Watch } from "./watch.js";
import { WorldLayer } from "./world-layer.js";

const element = (id) => document.getElementById(id);
const status = new Status();
const map = L.map("map", {
    crs, minZoom: 0, maxZoom: 22, zoomControl: false, worldCopyJump: false,
    maxBounds: [[-85.06, -Infinity], [85.06, Infinity]], maxBoundsViscosity: 1, attributionControl: false,
});
L.control.zoom({ position: "bottomright" }).addTo(map);
L.control.attribution({ position: "bottomright", prefix: false }).addTo(map);

const page = { source: "", filter: "", revision: undefined, watch: undefined, queries: undefined, sources: [] };

// MARK: Markers

const details = new Details(element("details"));
const markers = new MarkerLayer({
    onOpen: open,
    onHover: (marker) => hull.show(marker, page.queries, viewport(map).zoom, page.revision),
    onLeave: () => map.getContainer().focus({ preventScroll: true }),
});

async function open(marker) {
    const feature = marker.feature;
    hull.hide();
    if (!isCluster(feature)) {
        const together = markers.pointsAt(marker);
        if (together.length > 1) {
            return fan.open(marker.latLng, together.slice(0, mostLeaves).map((other) => other.feature), together.length);
        }
        return details.show(feature);
    }
    const id = feature.properties.cluster_id;
    const parameters = { revision: page.revision };
    const found = viewport(map).zoom;
    try {
        const shape = await page.queries.ofCluster(id, found, "hull", parameters);
        if (shape.geometry.type === "Point") {
            const leaves = await page.queries.ofCluster(id, found, "leaves", { ...parameters, limit: mostLeaves });
            return fan.open(marker.latLng, leaves.features, leaves.total);
        }
        const { zoom } = await page.queries.ofCluster(id, found, "expansion-zoom", parameters);
        details.close();
        // The browser's way back leads to the view before the click.
        history.pushState(null, "", location.href);
        map.setView(marker.latLng, Math.min(zoom, map.getMaxZoom()));
    } catch (error) {
        // The data have changed since the circle was drawn: what is there now is on its way.
        if (error.httpStatus !== 409 && error.httpStatus !== 404) notify(error.message);
    }
}

map.setView([20, 0], 1);
markers.addTo(map);
const hull = new Hull(map);
const fan = new Fan(map, (feature) => details.show(feature));

// MARK: The watched viewport

function startWatch() {
    page.watch?.close();
    page.queries = new api.Queries(page.source, page.filter);
    page.watch = new Watch(page.queries, viewport(map), {
        onReset: () => markers.reset(),
        onChange: (item) => {
            page.revision = item.revision;
            markers.apply(item);
            showCounts();
            if (page.hasAdvice && markers.countShown().all) showFilterAdvice([]);
            status.setAnswer(item.milliseconds);
            describeSoon();
        },
        onState: (state, message) => {
            status.setState(state, message);
            if (state === "live") notify("");
            if (state === "refused") refuse(message);
        },
    });
}

async function refuse(message) {
    const { watch } = page;
    await listSources().catch(() => {});
    if (watch !== page.watch) return;
    if (!description()) awaitSource();
    else if (page.filter) showFilterError(message);
    else notify(message);
}

/** Shows that the source does not exist, and watches it once it does: it may be imported again. */
function awaitSource() {
    const { watch } = page;
    markers.reset();
    markers.apply({ add: [], remove: [] });
    showCounts();
    notify(`There is no source "${page.source}". Choose one of the list above.`);
    setTimeout(async () => {
        await listSources().catch(() => {});
        if (watch !== page.watch) return;
        if (description()) restore(address.read());
        else awaitSource();
    }, 2000);
}

function showCounts() {
    status.setCounts(markers.countShown(), page.filter ? undefined : description()?.points, page.revision ?? 0);
}

const description = () => page.sources.find(({ source }) => source === page.source);

/** Reads the sources' sizes again, at most once a second. */
function describeSoon() {
    if (page.describing || description()?.revision === page.revision) return;
    page.describing = setTimeout(async () => {
        page.describing = undefined;
        await listSources().catch(() => {});
        showCounts();
    }, 1000);
}

function follow(centre, zoom) {
    page.watch?.move(viewport(map, centre, zoom));
}

let lastFollowed = 0;
map.on("move", () => {
    if (markers.isZooming || performance.now() - lastFollowed < 100) return;
    lastFollowed = performance.now();
    follow();
});
map.on("zoomanim", ({ center, zoom }) => follow(center, zoom));
map.on("moveend", () => {
    follow();
    remember();
});
map.on("resize", () => follow());
new ResizeObserver(() => map.invalidateSize({ animate: false })).observe(map.getContainer());

// MARK: The address

function currentView() {
    const centre = planeOf(description()) ? map.getCenter() : map.getCenter().wrap();
    return { zoom: Math.round(map.getZoom() * 100) / 100, latitude: centre.lat, longitude: centre.lng };
}

function remember(isNew) {
    if (page.source) address.write({ source: page.source, filter: page.filter, view: currentView() }, isNew);
}

function goHome(options) {
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

function restore({ source, filter, view }) {
    page.source = source;
    page.filter = filter;
    element("source").value = source;
    element("filter").value = filter;
    element("filter-clear").hidden = !filter;
    showFilterError("");
    showGround();
    if (view) map.setView([view.latitude, view.longitude], view.zoom, { animate: false });
    else goHome({ animate: false });
    startWatch();
    if (filter) adviseOnFilter();
    document.title = source ? `${source} · clusterd` : "clusterd";
}

addEventListener("popstate", () => {
    const read = address.read();
    if (read.source === page.source && read.filter === page.filter) {
        if (read.view) map.setView([read.view.latitude, read.view.longitude], read.view.zoom);
        return;
    }
    restore(read);
});

/** The world's map below the markers, or the edge of the source's plane. */
function showGround() {
    const plane = planeOf(description());
    if (!use(map, plane)) return;
    page.edge?.remove();
    page.edge = undefined;
    // A new projection takes effect with a new view.
    map.setView([0, 0], 0, { reset: true, animate: false });
    if (plane) {
        page.edge = L.rectangle([[plane[1], plane[0]], [plane[3], plane[2]]], { className: "plane", interactive: false }).addTo(map);
        page.ground?.remove();
    } else if (page.ground && !map.hasLayer(page.ground)) page.ground.addTo(map);
}

// MARK: Sources and filters

async function listSources() {
    page.sources = await api.sources();
    const select = element("source");
    const options = page.sources.map(({ source }) => new Option(source, source, false, source === page.source));
    select.replaceChildren(...options);
    select.value = page.source;
    select.disabled = options.length === 0;
}

/** Names the properties that a filter can use: those of the points in sight. */
function nameFields() {
    const names = markers.propertyNames();
    element("filter-fields").textContent = names.length ? `Properties of the points in view: ${names.slice(0, 20).join(", ")}.` : "";
}

element("source").addEventListener("change", ({ target }) => {
    address.write({ source: target.value, filter: "", view: undefined }, true);
    details.close();
    restore({ source: target.value, filter: "" });
    remember();
});

function showFilterError(message) {
    // The page has no other params, and calls this one a filter.
    writeBelowFilter(message.replace(/^params\.filter(: | |(?=\[))/, ""));
    element("filter").setAttribute("aria-invalid", message ? "true" : "false");
}

/** Shows why a valid filter leaves nothing. */
function showFilterAdvice(warnings) {
    writeBelowFilter(warnings.join("; "));
    page.hasAdvice = warnings.length > 0;
}

function writeBelowFilter(text) {
    const line = element("filter-error");
    line.textContent = text;
    line.hidden = !text;
    page.hasAdvice = false;
}

/** Asks with the filter that the address had whether anything passes. What is wrong with it is said elsewhere. */
async function adviseOnFilter() {
    const { queries } = page;
    const { bbox, zoom } = viewport(map);
    const { warnings = [] } = await queries.clusters(bbox, zoom, 1).catch(() => ({}));
    if (queries === page.queries && warnings.length) showFilterAdvice(warnings);
}

/** Asks with the new filter first: if it is wrong, the map stays as it is. */
async function applyFilter(filter) {
    const { bbox, zoom } = viewport(map);
    let answer;
    try {
        if (filter) JSON.parse(filter);
        answer = await new api.Queries(page.source, filter).clusters(bbox, zoom, 1);
    } catch (error) {
        const advice = `. A filter is an expression, such as ${element("filter").placeholder}`;
        return showFilterError(error instanceof SyntaxError ? error.message + advice : error.message);
    }
    showFilterError("");
    showFilterAdvice(answer.warnings ?? []);
    page.filter = filter;
    element("filter").value = filter;
    element("filter-clear").hidden = !filter;
    remember(true);
    startWatch();
}

element("filter-form").addEventListener("submit", (event) => {
    event.preventDefault();
    applyFilter(element("filter").value.trim());
});
element("filter-clear").addEventListener("click", () => applyFilter(""));

// MARK: Keys, help and notices

function notify(message) {
    element("notice").textContent = message;
    element("notice").hidden = !message;
}

element("home").addEventListener("click", () => goHome());
element("help-open").addEventListener("click", showHelp);

function showHelp() {
    nameFields();
    element("help").showModal();
}

addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || element("help").open) return;
    if (event.key === "Escape") return escape();
    if (event.target.closest("input, select, textarea")) return;
    if (event.key === "/") {
        event.preventDefault();
        element("filter").select();
    } else if (event.key === "?") showHelp();
    else if (event.key === "0") goHome();
    else if (["+", "="].includes(event.key) && event.target.marker) map.zoomIn();
    else if (["-", "_"].includes(event.key) && event.target.marker) map.zoomOut();
});

function escape() {
    if (fan.isOpen) fan.close();
    else if (details.isOpen) details.close();
    else if (document.activeElement !== map.getContainer()) map.getContainer().focus({ preventScroll: true });
}

map.on("click", () => details.close());

// What was imported meanwhile can be chosen by somebody who comes back to the page.
addEventListener("focus", () => listSources().catch(() => {}));

// MARK: The start

async function addBasemap() {
    const { basemap } = await api.settings().catch(() => ({}));
    if (basemap) {
        page.ground = L.tileLayer(basemap.url, { attribution: basemap.attribution, tileSize: 256, zoomOffset: 1, maxNativeZoom: 18 });
    } else {
        page.ground = new WorldLayer(await (await fetch("/assets/world-110m.geojson")).json());
    }
    if (!page.edge) page.ground.addTo(map);
}

async function start() {
    if (!page.hasBegun) {
        page.hasBegun = true;
        theme.start(element("theme"), () => page.ground?.redraw());
        addBasemap().catch(() => {});
    }
    try {
        await listSources();
    } catch (error) {
        status.setState("offline", error.message);
        notify(`The daemon does not answer: ${error.message}`);
        return void setTimeout(start, 3000);
    }
    if (!page.sources.length) {
        const code = document.createElement("code");
        code.textContent = "clusterctl import NAME FILE";
        notify("There are no sources yet. Make one with ");
        element("notice").append(code);
        status.setState("live");
        return void setTimeout(start, 3000);
    }
    notify("");
    const read = address.read();
    const largest = page.sources.reduce((one, other) => (other.points > one.points ? other : one));
    restore({ ...read, source: read.source || largest.source });
    remember();
}

start();

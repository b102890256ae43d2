// SPDX-License-Identifier: MIT
// The map page: puts its parts together.
/* global L */
import * as address from "./address.js";
import * as api from "./api.js";
import { Aside } from "./aside.js";
import { Colouring } from "./colouring.js";
import { showDensityLegend } from "./colour/legend.js";
import { DensityLayer } from "./density/layer.js";
import { labelsOf } from "./density/steps.js";
import { button, element, make } from "./dom.js";
import { readFacts, titleProperty } from "./facts.js";
import { Fan, mostLeaves } from "./fan.js";
import { FilterForm } from "./filter/form.js";
import { GroundLayer } from "./ground/layer.js";
import { daemonTiles } from "./ground/sources.js";
import { Hint } from "./hint.js";
import { Hull } from "./hull.js";
import { indexedOf, optionsOf } from "./indexed.js";
import { listenToKeys } from "./keys.js";
import { isCluster, pointCount } from "./marker.js";
import { MarkerLayer } from "./marker-layer.js";
import { Panel } from "./panel/panel.js";
import { latLng, planeOf, use, viewport, WorldMap } from "./projection.js";
import { Search } from "./search.js";
import { Slider } from "./slider/slider.js";
import { Status } from "./status.js";
import { Table } from "./table/table.js";
import * as theme from "./theme.js";
import { TopList } from "./top.js";
import { Watch } from "./watch.js";

const status = new Status();
const map = new WorldMap("map", {
    maxZoom: 22, worldCopyJump: false, boxZoom: false, maxBounds: [[-85.06, -Infinity], [85.06, Infinity]], maxBoundsViscosity: 1,
});
L.control.zoom({ position: "bottomright" }).addTo(map);
L.control.attribution({ position: "bottomright", prefix: false }).addTo(map);
const scaleBar = L.control.scale({ position: "bottomright", imperial: false });

const page = { source: "", variant: "", filter: "", window: undefined, pin: null, revision: undefined, watch: undefined, queries: undefined, isCurrent: false, sources: [], facts: [], last: undefined };

// A small screen has no room for the legend unless somebody asks for it.
const smallScreen = matchMedia("(max-width: 640px)");
if (smallScreen.matches) element("legend").open = false;

// MARK: Markers

const colouring = new Colouring({ select: element("colour"), legend: element("legend") }, {
    zoom: () => viewport(map).zoom,
    revision: () => page.revision,
    isCurrent: () => page.isCurrent,
    onChoice: (property) => {
        colouring.use(property, page.queries, options());
        remember();
    },
    onPaint: () => markers.repaint(),
    isMoving: () => slider.isMoving,
});
const panel = new Panel(element("details"), {
    onZoom: zoomTo,
    onShow: (feature) => showPlace(feature),
    onGoTo: goTo,
    facts: () => page.facts,
    isPlane: () => Boolean(planeOf(description())),
    pinning,
    colouring: () => colouring.scale,
});
const markers = new MarkerLayer({
    onOpen: open,
    onInspect: inspect,
    onHover: (marker, way) => {
        if (marker) page.last = marker.key;
        hint.show(marker, way);
        hull.show(marker, page.queries, viewport(map).zoom, page.revision);
    },
    onLeave: () => map.getContainer().focus({ preventScroll: true }),
}, (feature) => colouring.paint(feature));

/** A click: a point's panel, or where a cluster separates. */
async function open(marker, way) {
    const { feature } = marker;
    hull.hide();
    hint.hide();
    if (!isCluster(feature)) {
        const together = markers.pointsAt(marker);
        if (together.length > 1) {
            return fan.open(marker.latLng, together.slice(0, mostLeaves).map((other) => other.feature), together.length);
        }
        return inspect(marker);
    }
    const shown = { feature, key: marker.key, zoom: viewport(map).zoom, revision: page.revision, queries: page.queries };
    try {
        const shape = await shown.queries.ofCluster(feature.properties.cluster_id, shown.zoom, "hull", { revision: shown.revision });
        if (shape.geometry?.type === "Point") {
            const parameters = { revision: shown.revision, limit: mostLeaves };
            const leaves = await shown.queries.ofCluster(feature.properties.cluster_id, shown.zoom, "leaves", parameters);
            return fan.open(marker.latLng, leaves.features, leaves.total);
        }
        if (way === "touch") hint.tapped();
        aside.stay();
        panel.close();
        await zoomTo(shown);
    } catch (error) {
        report(error);
    }
}

/** The panel of a point or a cluster. */
function inspect(marker, way) {
    const { feature, key } = marker;
    hint.hide();
    if (way === "touch" && isCluster(feature)) hint.held();
    pin(feature);
    panel.show({ feature, key, zoom: viewport(map).zoom, revision: page.revision, queries: page.queries });
    markers.select(key);
    hull.show(marker, page.queries, viewport(map).zoom, page.revision);
    uncover(marker.latLng);
}

/** Keeps a point on the map, whatever the zoom, until another one is chosen; a point without an id can't be kept. */
function pin(feature) {
    if (isCluster(feature) || feature.id === undefined) return;
    setPin(feature.id);
}

function setPin(id) {
    if (id === page.pin) return;
    page.pin = id;
    page.watch?.restrict(id);
    remember();
}

/** The button of a point's panel that keeps it on the map, or lets it go. */
function pinning(feature) {
    if (feature.id === undefined) return undefined;
    const toggle = button("", () => {
        setPin(page.pin === feature.id ? null : feature.id);
        show();
    });
    const show = () => {
        toggle.textContent = page.pin === feature.id ? "Unpin" : "Pin";
        toggle.title = page.pin === feature.id ? "Let it be part of a circle again" : "Always show it as a point of its own";
    };
    show();
    return toggle;
}

/** How near to the panel a position may be, in pixels: most of a circle is then in sight. */
const roomBesidePanel = 60;
/** How much of a small screen's map the panel takes at most; see panels.css. */
const panelShare = 0.55;

/** Moves the map so that neither the panel nor the top list hides what the panel is about. */
function uncover(place) {
    const size = map.getSize();
    const { x, y } = map.latLngToContainerPoint(place);
    const panelWidth = element("details").offsetWidth;
    if (panelWidth < 0.8 * size.x) {
        const free = size.x - panelWidth - 10;
        const taken = topList.isOpen ? element("side").offsetWidth + 10 : 0;
        if (x > free - roomBesidePanel || (taken && x < taken + roomBesidePanel)) aside.move([x - (taken + free) / 2, 0]);
    } else {
        const free = size.y * (1 - panelShare);
        if (y > free - roomBesidePanel) aside.move([0, y - free / 2]);
    }
}

/** Inspects the circle that was last chosen or looked at, or the largest. */
function inspectLast() {
    const all = [...markers.markers.values()];
    const marker = markers.markers.get(page.last) ??
        all.toSorted((one, other) => pointCount(other.feature) - pointCount(one.feature))[0];
    if (marker) inspect(marker);
}

async function zoomTo({ feature, zoom: found, revision, queries }) {
    try {
        const { zoom } = await queries.ofCluster(feature.properties.cluster_id, found, "expansion-zoom", { revision });
        // The browser's way back leads to the view before the click.
        history.pushState(null, "", location.href);
        map.setView(latLng(map, feature.geometry.coordinates), Math.min(zoom, map.getMaxZoom()));
    } catch (error) {
        report(error);
    }
}

function report(error) {
    // The data have changed since the circle was drawn: what is there now is on its way.
    if (error.httpStatus !== 409 && error.httpStatus !== 404) toast(error.message);
}

/** From what is to be in the middle of what the panel leaves free to the middle of the map, in pixels. */
function besidePanel() {
    return smallScreen.matches ? [0, (panelShare * map.getSize().y) / 2] : [element("details").offsetWidth / 2, 0];
}

/** Moves the map to a point, unless it is in sight. */
function showPlace(feature) {
    const place = latLng(map, feature.geometry.coordinates);
    hull.hide();
    ring.setLatLng(place).addTo(map);
    if (map.getBounds().pad(-0.1).contains(place)) uncover(place);
    else map.panTo(map.unproject(map.project(place).add(besidePanel())));
}

/** Goes to a point, deep enough to see it by itself, and shows its panel. */
async function goTo(feature) {
    let zoom = Math.max(map.getZoom(), 10);
    if (feature.id !== undefined) {
        const located = await page.queries.locate(feature.id, viewport(map).zoom).catch(() => ({}));
        zoom = Math.max(map.getZoom(), Math.min(located.standsAloneFrom ?? 17, 17));
    }
    history.pushState(null, "", location.href);
    const place = latLng(map, feature.geometry.coordinates);
    // A point of a cluster's list keeps its way back.
    if (panel.shown?.feature !== feature) panel.show({ feature, zoom, revision: page.revision, queries: page.queries });
    markers.select(undefined);
    map.setView(map.unproject(map.project(place, zoom).add(besidePanel()), zoom), zoom);
    ring.setLatLng(place).addTo(map);
}

map.setView([20, 0], 1);
markers.addTo(map);
const hull = new Hull(map);
const hint = new Hint(map, toast);
const aside = new Aside(map);
// Above the markers: a circle would hide where in it the chosen point is.
map.createPane("chosen").classList.add("chosen-pane");
const ring = L.circleMarker([0, 0], { radius: 13, className: "chosen", interactive: false, pane: "chosen" });
const density = new DensityLayer({
    read: (bbox, resolution) => page.queries.grid(bbox, resolution),
    isDark: theme.isDark,
    onSteps: (steps, shades, most) => showDensityLegend(element("density-legend"), labelsOf(steps, most), shades),
    onError: (message) => toast(message),
});
// Below the markers, above the ground.
map.createPane("density").classList.add("density-pane");
const fan = new Fan(map, (feature) => panel.show({ feature, zoom: viewport(map).zoom, revision: page.revision, queries: page.queries }));
new MutationObserver(() => {
    if (panel.isOpen) return;
    aside.back();
    ring.remove();
    markers.select(undefined);
}).observe(element("details"), { attributes: true, attributeFilter: ["hidden"] });

/** Closes or renews the panel if what it shows passes no more, or has changed. */
async function checkPanel() {
    const { shown } = panel;
    if (!shown) return;
    const { queries } = page;
    if (isCluster(shown.feature)) {
        const marker = markers.markers.get(shown.key);
        if (!marker || !isCluster(marker.feature)) return panel.close();
        return panel.show({ ...shown, feature: marker.feature, zoom: viewport(map).zoom, revision: page.revision, queries }, { keepsFocus: true });
    }
    const isThere = await passes(shown.feature, queries);
    if (panel.shown === shown && queries === page.queries && !isThere) panel.close();
}

/** Whether a point is among those that pass the filter. */
async function passes(feature, queries) {
    if (feature.id !== undefined) {
        return queries.locate(feature.id, 24).then(() => true, (error) => error.httpStatus !== 404);
    }
    const [x, y] = feature.geometry.coordinates;
    const answer = await queries.points([x - 1e-5, y - 1e-5, x + 1e-5, y + 1e-5]).catch(() => undefined);
    const text = JSON.stringify(feature.properties);
    return !answer || answer.features.some((other) => JSON.stringify(other.properties) === text);
}

// MARK: The watched viewport

function startWatch() {
    page.watch?.close();
    page.queries = new api.Queries(queried(), page.filter, page.window);
    page.isCurrent = false;
    colouring.use(address.read().colour, page.queries, options());
    refreshValues();
    let isNew = true;
    page.watch = new Watch(page.queries, viewport(map), page.pin, {
        onReset: () => {
            markers.reset();
            isNew = true;
        },
        onChange: (item) => {
            const hasChanged = isNew || item.revision !== page.revision;
            isNew = false;
            page.revision = item.revision;
            page.isCurrent = true;
            markers.apply(item);
            colouring.run();
            showCounts();
            if (page.hasAdvice && markers.countShown().all) showFilterAdvice([]);
            measureDrawing(item);
            if (hasChanged) {
                checkPanel();
                table.refreshSoon();
                refreshValues();
            }
            describeSoon();
        },
        onState: (state, message) => {
            status.setState(state, message);
            if (state === "live") notify("");
            if (state === "refused") refuse(message);
        },
    });
}

/** Drawing ends with the frame after the change, when the browser has laid it out. */
function measureDrawing({ times, arrived }) {
    requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => status.setAnswer(times, performance.now() - arrived);
        channel.port2.postMessage(undefined);
    });
}

async function refuse(message) {
    const { watch } = page;
    await listSources().catch(() => {});
    if (watch !== page.watch) return;
    if (!description()) awaitSource();
    else if (page.window && !slider.offered.some(({ name }) => name === page.window.property)) {
        // The source's options have changed meanwhile.
        slider.close();
        startWatch();
    } else if (page.filter) showFilterError(message);
    else notify(message);
}

/** Shows that the source does not exist, and watches it once it does: it may be imported again. */
function awaitSource() {
    const { watch } = page;
    markers.reset();
    markers.apply({ add: [], remove: [] });
    panel.close();
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
    status.setCounts(markers.countShown(), page.filter || page.variant ? undefined : description()?.points, page.revision ?? 0);
}

const description = () => page.sources.find(({ source }) => source === page.source);
/** Of the source, or of the view of it that was chosen. */
const options = () => optionsOf(description()?.options, page.variant);
/** What is asked: SOURCE or SOURCE:VIEW. */
const queried = () => (page.variant ? `${page.source}:${page.variant}` : page.source);

/** Reads the sources' sizes again, at most once a second. */
function describeSoon() {
    if (page.describing || description()?.revision === page.revision) return;
    page.describing = setTimeout(async () => {
        page.describing = undefined;
        const had = description()?.points;
        await listSources().catch(() => {});
        showCounts();
        if (!had && description()?.points) learnFacts();
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
    refreshValues();
});
map.on("zoomanim", ({ center, zoom }) => follow(center, zoom));
map.on("moveend", () => {
    follow();
    remember();
    table.refreshSoon();
    refreshValues();
    // What came while the map zoomed is shown only now, and nothing more may come.
    if (!page.isCurrent) return;
    colouring.run();
    showCounts();
});
map.on("resize", () => follow());
new ResizeObserver(() => map.invalidateSize({ animate: false })).observe(map.getContainer());

// MARK: The address

function currentView() {
    const centre = planeOf(description()) ? map.getCenter() : map.getCenter().wrap();
    return { zoom: Math.round(map.getZoom() * 100) / 100, latitude: centre.lat, longitude: centre.lng };
}

function remember(isNew) {
    if (!page.source) return;
    const { source, variant, filter, pin } = page;
    const shown = { window: page.window, top: topList.by, density: map.hasLayer(density) };
    address.write({ source, variant, filter, colour: colouring.property, ...shown, pin, view: currentView() }, isNew);
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

function restore({ source, variant = "", filter, colour = "", window, top = "", density: isDense = false, pin = null, view }) {
    const isOther = source !== page.source || variant !== page.variant;
    aside.stay();
    Object.assign(page, { source, variant, filter, pin });
    element("source").value = source;
    offerValues();
    // A window of a property that is not indexed would be refused.
    const isKnown = slider.offered.some(({ name }) => name === window?.property);
    page.window = isKnown ? window : undefined;
    showFilterError("");
    showGround();
    if (isOther) {
        page.facts = [];
        panel.close();
        search.clear();
        colouring.offer([]);
        colouring.property = colour;
        learnFacts();
    }
    filterForm.begin(page.facts, filter);
    if (view) map.setView([view.latitude, view.longitude], view.zoom, { animate: false });
    else goHome({ animate: false });
    startWatch();
    showValues(top, isDense);
    if (filter) adviseOnFilter();
    document.title = source ? `${source} · clusterd` : "clusterd";
}

/** Reads what the source's properties are, for the filter, the colours, the search and the panel. */
async function learnFacts() {
    const name = queried();
    const facts = await readFacts(new api.Queries(name, ""), description()?.points ?? 0).catch(() => []);
    if (name !== queried()) return;
    page.facts = facts;
    colouring.offer(facts);
    filterForm.begin(facts, page.filter);
    if (page.queries) colouring.use(address.read().colour, page.queries, options());
    topList.refresh();
}

addEventListener("popstate", () => {
    const read = address.read();
    const kept = (state) => JSON.stringify([state.source, state.variant, state.filter]);
    if (kept(read) === kept(page)) {
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
        scaleBar.remove();
    } else if (page.ground && !map.hasLayer(page.ground)) {
        page.ground.addTo(map);
        scaleBar.addTo(map);
    }
}

// MARK: Sources and filters

async function listSources() {
    // Views are chosen beside their source.
    page.sources = (await api.sources()).filter(({ source }) => !source.includes(":"));
    const select = element("source");
    const choices = page.sources.map(({ source }) => new Option(source, source, false, source === page.source));
    select.replaceChildren(...choices);
    select.value = page.source;
    select.disabled = choices.length === 0;
    offerValues();
}

element("source").addEventListener("change", ({ target }) => {
    address.write({ source: target.value, filter: "", view: undefined }, true);
    restore({ source: target.value, filter: "" });
    remember();
});

element("variant").addEventListener("change", ({ target }) => {
    const shown = { ...address.read(), variant: target.value };
    address.write(shown, true);
    restore({ ...shown, view: currentView() });
    remember();
});

const filterForm = new FilterForm({
    form: element("filter-form"), rows: element("conditions"), add: element("condition-add"), mode: element("filter-mode"),
    expression: element("filter"), chips: element("filter-chips"), error: showFilterError,
}, applyFilter);

function showFilter(isOpen) {
    element("filter-form").hidden = !isOpen;
    element("filter-open").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) element("filter-form").querySelector("select, #filter")?.focus();
    if (isOpen && filterForm.mode.checked) element("filter").select();
}

element("filter-open").addEventListener("click", () => showFilter(element("filter-form").hidden));
element("filter-clear").addEventListener("click", () => applyFilter(""));

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

/** Asks with the new filter first: if it is wrong, the map stays as it is. Returns whether it was accepted. */
async function applyFilter(filter) {
    const { bbox, zoom } = viewport(map);
    let answer;
    try {
        if (filter) JSON.parse(filter);
        answer = await new api.Queries(queried(), filter).clusters(bbox, zoom, 1);
    } catch (error) {
        const advice = `. A filter is an expression, such as ${element("filter").placeholder}`;
        showFilterError(error instanceof SyntaxError ? error.message + advice : error.message);
        return false;
    }
    showFilterError("");
    showFilterAdvice(answer.warnings ?? []);
    page.filter = filter;
    filterForm.set(filter);
    // What is applied stands above the map; the form would hide half of it.
    if (smallScreen.matches) {
        showFilter(false);
        element("filter-open").focus();
    }
    remember(true);
    startWatch();
    return true;
}

// MARK: Search, table, link

const search = new Search({ input: element("search"), results: element("search-results") }, {
    facts: () => page.facts,
    filter: () => (page.filter ? JSON.parse(page.filter) : undefined),
    points: (filter, limit) => new api.Queries(queried(), filter).points(undefined, limit),
    onOpen: goTo,
});

const table = new Table(element("table"), {
    read: (limit) => page.queries.points(viewport(map).bbox, limit),
    inView: () => markers.countShown().all,
    name: () => page.source,
    names: () => page.facts.map(({ name }) => name),
    onOpen: (feature) => {
        panel.show({ feature, zoom: viewport(map).zoom, revision: page.revision, queries: page.queries });
        showPlace(feature);
    },
    onClose: () => element("table-open").focus(),
    say: toast,
});
element("table-open").addEventListener("click", () => (table.isOpen ? table.close() : table.open()));
element("panel-open").addEventListener("click", inspectLast);

element("link").addEventListener("click", async () => {
    remember();
    try {
        await navigator.clipboard.writeText(location.href);
        toast("The link is copied.");
    } catch {
        // Without HTTPS a browser has no clipboard except on the machine itself.
        const field = make("input", { value: location.href, readOnly: true, "aria-label": "Link to this view" });
        element("toast").replaceChildren("Copy this link: ", field);
        element("toast").hidden = false;
        field.select();
    }
});

// MARK: Slider, top list, density, views

const slider = new Slider(element("slider"), {
    // The axis is the same for all filters and views of the map; the bars are of what is in view.
    histogram: (property, { bins, edges }) => (edges
        ? page.queries.histogram(property, { bbox: viewport(map).bbox, edges })
        : new api.Queries(queried(), "").histogram(property, { bins })),
    onWindow: (window) => {
        page.window = page.queries.window = window;
        page.watch?.restrict();
        topList.refresh();
        if (map.hasLayer(density)) density.refresh();
    },
    onRest: () => {
        remember();
        colouring.paintAgain();
        table.refreshSoon();
        checkPanel();
        showCounts();
    },
    onClose: () => element("slider-open").setAttribute("aria-expanded", "false"),
});

const topList = new TopList(element("top"), {
    read: (by, limit) => page.queries.top(viewport(map).bbox, by, limit),
    naming: () => titleProperty(page.facts),
    onOpen: (feature) => {
        pin(feature);
        panel.show({ feature, zoom: viewport(map).zoom, revision: page.revision, queries: page.queries });
        showPlace(feature);
    },
    onPoint: (feature) => {
        if (feature) ring.setLatLng(latLng(map, feature.geometry.coordinates)).addTo(map);
        else if (!panel.isOpen) ring.remove();
    },
    onChoice: () => remember(),
    onClose: () => {
        element("top-open").setAttribute("aria-expanded", "false");
        remember();
    },
});

/** Offers what the source has: its indexed properties and its views. */
function offerValues() {
    const indexed = indexedOf(description()?.options);
    slider.offer(indexed);
    topList.offer(indexed);
    for (const id of ["slider-open", "top-open"]) element(id).hidden = !indexed.length;
    element("density").hidden = !description() || Boolean(planeOf(description()));
    const views = Object.keys(description()?.options?.views ?? {});
    const select = element("variant");
    select.replaceChildren(new Option("all", ""), ...views.map((name) => new Option(name, name)));
    select.value = page.variant;
    select.closest("label").hidden = !views.length;
}

/** Opens and closes what the address says. */
function showValues(top, isDense) {
    if (page.window) openSlider(page.window);
    else if (slider.isOpen) slider.close();
    if (top && topList.offered.length) openTop(top);
    else if (topList.isOpen) topList.close();
    showDensity(isDense && !element("density").hidden);
}

/** What is in view has changed. */
function refreshValues() {
    slider.refresh();
    topList.refresh();
    if (map.hasLayer(density)) density.refresh();
}

function openSlider(window) {
    element("slider-open").setAttribute("aria-expanded", "true");
    return slider.use(window);
}

function openTop(by) {
    element("top-open").setAttribute("aria-expanded", "true");
    topList.open(by);
}

function showDensity(isShown) {
    element("density").setAttribute("aria-pressed", String(isShown));
    document.documentElement.classList.toggle("dense", isShown);
    if (isShown) density.addTo(map);
    else density.remove();
    element("density-legend").hidden = true;
}

element("slider-open").addEventListener("click", () => {
    if (slider.isOpen) slider.close();
    else openSlider({ property: slider.name }).then(() => slider.handles[0].focus());
});
element("top-open").addEventListener("click", () => (topList.isOpen ? topList.close() : openTop()));
element("density").addEventListener("click", () => {
    showDensity(!map.hasLayer(density));
    remember();
});

// MARK: Keys, help and notices

function notify(message) {
    element("notice").textContent = message;
    element("notice").hidden = !message;
}

function toast(message) {
    element("toast").textContent = message;
    element("toast").hidden = false;
    clearTimeout(page.toasting);
    page.toasting = setTimeout(() => (element("toast").hidden = true), 4000);
}

element("home").addEventListener("click", () => goHome());
element("help-open").addEventListener("click", showHelp);

function showHelp() {
    const names = page.facts.map(({ name }) => name);
    element("filter-fields").textContent = names.length ? `Properties of this source: ${names.slice(0, 30).join(", ")}.` : "";
    element("help").showModal();
}

listenToKeys({
    isBlocked: () => element("help").open,
    "Escape": () => {
        element("toast").hidden = true;
        const isFilterOpen = !element("filter-form").hidden;
        const closeFilter = () => {
            showFilter(false);
            element("filter-open").focus();
        };
        if (isFilterOpen && element("filter-form").contains(document.activeElement)) closeFilter();
        else if (fan.isOpen) fan.close();
        else if (panel.isOpen && panel.before.length) panel.back();
        else if (panel.isOpen) panel.close();
        else if (table.isOpen) table.close();
        else if (element("top").contains(document.activeElement)) {
            topList.close();
            element("top-open").focus();
        } else if (element("slider").contains(document.activeElement)) {
            slider.close();
            element("slider-open").focus();
        }
        else if (isFilterOpen) closeFilter();
        else if (page.pin !== null && document.activeElement === map.getContainer()) setPin(null);
        else if (document.activeElement !== map.getContainer()) map.getContainer().focus({ preventScroll: true });
    },
    "/": () => showFilter(true),
    "?": showHelp,
    "0": () => goHome(),
    "s": () => element("search").select(),
    "t": () => element("table-open").click(),
    "i": inspectLast,
    "w": () => pressed("slider-open"),
    "l": () => pressed("top-open"),
    "d": () => pressed("density"),
    "p": () => slider.isOpen && slider.toggle(),
    "+": (event) => event.target.marker && map.zoomIn(),
    "=": (event) => event.target.marker && map.zoomIn(),
    "-": (event) => event.target.marker && map.zoomOut(),
    "_": (event) => event.target.marker && map.zoomOut(),
});

function pressed(id) {
    if (!element(id).hidden) element(id).click();
}

map.on("click", () => {
    // The release of a circle that was held is a click on the map if that has moved aside meanwhile.
    if (!markers.wasPressed) panel.close();
});

// What was imported meanwhile can be chosen by somebody who comes back to the page.
addEventListener("focus", () => listSources().catch(() => {}));

// MARK: The start

async function addBasemap() {
    const { basemap } = await api.settings().catch(() => ({}));
    if (basemap) {
        page.ground = L.tileLayer(basemap.url, { tileSize: 256, zoomOffset: 1, minZoom: -Infinity, minNativeZoom: 0, maxNativeZoom: 18 });
        // The attribution is a text: what a configuration says is not run either.
        const text = make("span", {}, basemap.attribution);
        page.ground.options.attribution = text.innerHTML;
    } else {
        page.ground = new GroundLayer(daemonTiles());
    }
    if (!page.edge) {
        page.ground.addTo(map);
        scaleBar.addTo(map);
    }
}

async function start() {
    if (!page.hasBegun) {
        page.hasBegun = true;
        theme.start(element("theme"), () => {
            page.ground?.redraw();
            if (map.hasLayer(density)) density.draw();
        });
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

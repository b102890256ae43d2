// SPDX-License-Identifier: MIT
// The map page: puts its parts together.
import * as address from "./address.js";
import * as api from "./api.js";
import { Colouring } from "./colouring.js";
import { element, make } from "./dom.js";
import { readFacts } from "./facts.js";
import { listenToKeys } from "./keys.js";
import { FilterControl } from "./page/filter-control.js";
import { addGround, currentView, focusMap, goHome, map, redrawGround, showGround } from "./page/map.js";
import { notify, toast } from "./page/notices.js";
import { Selection } from "./page/selection.js";
import { description, options, page, queried } from "./page/state.js";
import { ValueControls } from "./page/value-controls.js";
import { viewport } from "./projection.js";
import { Search } from "./search.js";
import { Status } from "./status.js";
import { Table } from "./table/table.js";
import * as theme from "./theme.js";
import { Watch } from "./watch.js";

const status = new Status();

// MARK: The parts

const colouring = new Colouring({ select: element("colour"), legend: element("legend") }, {
    zoom: () => viewport(map).zoom,
    revision: () => page.revision,
    isCurrent: () => page.isCurrent,
    onChoice: (property) => {
        colouring.use(property, page.queries, options());
        remember();
    },
    onPaint: () => markers.repaint(),
    isMoving: () => values.slider.isMoving,
});

const selection = new Selection({
    paint: (feature) => colouring.paint(feature),
    scale: () => colouring.scale,
    onPin: () => remember(),
});
const { markers, panel } = selection;

const filter = new FilterControl(() => {
    remember(true);
    startWatch();
});

const values = new ValueControls({
    onChoice: () => remember(),
    onRest: () => {
        remember();
        colouring.paintAgain();
        table.refreshSoon();
        selection.check();
        showCounts();
    },
    onOpen: (feature) => {
        selection.pin(feature);
        selection.openListed(feature);
    },
    onPoint: (feature) => {
        if (feature) selection.ringAt(feature);
        else if (!panel.isOpen) selection.ring.remove();
    },
});

const search = new Search({ input: element("search"), results: element("search-results") }, {
    facts: () => page.facts,
    filter: () => (page.filter ? JSON.parse(page.filter) : undefined),
    points: (expression, limit) => new api.Queries(queried(), expression).points(undefined, limit),
    onOpen: (feature) => selection.goTo(feature),
});

const table = new Table(element("table"), {
    read: (limit) => page.queries.points(viewport(map).bbox, limit),
    inView: () => markers.countShown().all,
    name: () => page.source,
    names: () => page.facts.map(({ name }) => name),
    onOpen: (feature) => selection.openListed(feature),
    onClose: () => element("table-open").focus(),
    say: toast,
});
element("table-open").addEventListener("click", () => (table.isOpen ? table.close() : table.open()));
element("panel-open").addEventListener("click", () => selection.inspectLast());

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

// MARK: The watched viewport

function startWatch() {
    page.watch?.close();
    page.queries = new api.Queries(queried(), page.filter, page.window);
    page.isCurrent = false;
    colouring.use(address.read().colour, page.queries, options());
    values.refresh();
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
            if (filter.hasAdvice && markers.countShown().all) filter.showAdvice([]);
            measureDrawing(item);
            if (hasChanged) {
                selection.check();
                table.refreshSoon();
                values.refresh();
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
    else if (page.window && !values.offers(page.window.property)) {
        // The source's options have changed meanwhile.
        values.slider.close();
        startWatch();
    } else if (page.filter) filter.showError(message);
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
    values.refresh();
});
map.on("zoomanim", ({ center, zoom }) => follow(center, zoom));
map.on("moveend", () => {
    follow();
    remember();
    table.refreshSoon();
    values.refresh();
    // What came while the map zoomed is shown only now, and nothing more may come.
    if (!page.isCurrent) return;
    colouring.run();
    showCounts();
});
map.on("resize", () => follow());

// MARK: The address

function remember(isNew) {
    if (!page.source) return;
    const { source, variant, pin } = page;
    const shown = { window: page.window, top: values.top.by, density: values.isDense };
    address.write({ source, variant, filter: page.filter, colour: colouring.property, ...shown, pin, view: currentView() }, isNew);
}

function restore({ source, variant = "", filter: expression, colour = "", window, top = "", density: isDense = false, pin = null, view }) {
    const isOther = source !== page.source || variant !== page.variant;
    selection.aside.stay();
    Object.assign(page, { source, variant, filter: expression, pin });
    element("source").value = source;
    values.offer();
    // A window of a property that is not indexed would be refused.
    page.window = values.offers(window?.property) ? window : undefined;
    filter.showError("");
    showGround();
    if (isOther) {
        page.facts = [];
        panel.close();
        search.clear();
        colouring.offer([]);
        colouring.property = colour;
        learnFacts();
    }
    filter.form.begin(page.facts, expression);
    if (view) map.setView([view.latitude, view.longitude], view.zoom, { animate: false });
    else goHome({ animate: false });
    startWatch();
    values.show(top, isDense);
    if (expression) filter.advise();
    document.title = source ? `${source} · clusterd` : "clusterd";
}

/** Reads what the source's properties are, for the filter, the colours, the search and the panel. */
async function learnFacts() {
    const name = queried();
    const facts = await readFacts(new api.Queries(name, ""), description()?.points ?? 0).catch(() => []);
    if (name !== queried()) return;
    page.facts = facts;
    colouring.offer(facts);
    filter.form.begin(facts, page.filter);
    if (page.queries) colouring.use(address.read().colour, page.queries, options());
    values.top.refresh();
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

// MARK: Sources

async function listSources() {
    // Views are chosen beside their source.
    page.sources = (await api.sources()).filter(({ source }) => !source.includes(":"));
    const select = element("source");
    const choices = page.sources.map(({ source }) => new Option(source, source, false, source === page.source));
    select.replaceChildren(...choices);
    select.value = page.source;
    select.disabled = choices.length === 0;
    values.offer();
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

// MARK: Keys and help

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
        const hasFocus = (id) => element(id).contains(document.activeElement);
        element("toast").hidden = true;
        if (filter.isOpen && hasFocus("filter-form")) filter.close();
        else if (selection.fan.isOpen) selection.fan.close();
        else if (panel.isOpen && panel.before.length) panel.back();
        else if (panel.isOpen) panel.close();
        else if (table.isOpen) table.close();
        else if (hasFocus("top")) {
            values.top.close();
            element("top-open").focus();
        } else if (hasFocus("slider")) {
            values.slider.close();
            element("slider-open").focus();
        } else if (filter.isOpen) filter.close();
        else if (page.pin !== null && document.activeElement === map.getContainer()) selection.setPin(null);
        else if (document.activeElement !== map.getContainer()) focusMap();
    },
    "/": () => filter.show(true),
    "?": showHelp,
    "0": () => goHome(),
    "s": () => element("search").select(),
    "t": () => element("table-open").click(),
    "i": () => selection.inspectLast(),
    "w": () => pressed("slider-open"),
    "l": () => pressed("top-open"),
    "d": () => pressed("density"),
    "p": () => values.slider.isOpen && values.slider.toggle(),
    "+": (event) => event.target.marker && map.zoomIn(),
    "=": (event) => event.target.marker && map.zoomIn(),
    "-": (event) => event.target.marker && map.zoomOut(),
    "_": (event) => event.target.marker && map.zoomOut(),
});

function pressed(id) {
    if (!element(id).hidden) element(id).click();
}

// What was imported meanwhile can be chosen by somebody who comes back to the page.
addEventListener("focus", () => listSources().catch(() => {}));

// MARK: The start

async function start() {
    if (!page.hasBegun) {
        page.hasBegun = true;
        theme.start(element("theme"), () => {
            redrawGround();
            values.redraw();
        });
        addGround().catch(() => {});
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

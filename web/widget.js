// SPDX-License-Identifier: MIT
// The map of a notebook: the page's markers, ground and movement in a widget (anywidget) whose only way to the daemon is the
// kernel. clients/python/src/clusterd/_widget.py has the other end.
/* global L */
import { CallError, Queries, queryPath } from "./api.js";
import { Fan, mostLeaves } from "./fan.js";
import { GroundLayer } from "./ground/layer.js";
import { remembering } from "./ground/sources.js";
import { Hull } from "./hull.js";
import { isCluster } from "./marker.js";
import { MarkerLayer } from "./marker-layer.js";
import { latLng, use, viewport, WorldMap } from "./projection.js";
import { Watch } from "./watch.js";

/** How long the kernel may not know what is drawn, in milliseconds. */
const reportPause = 100;

/** The messages of one view of a widget, in both directions; several views of it may be shown. */
class Kernel {
    constructor(model) {
        this.model = model;
        this.view = Math.random().toString(36).slice(2);
        this.number = 0;
        this.waiting = new Map();
        this.sockets = new Map();
        this.handlers = {};
        this.receive = (message, buffers) => {
            if (message.view !== undefined && message.view !== this.view) return;
            if (message.kind === "answer") this.take(message, buffers);
            else if (message.kind === "item") this.sockets.get(message.id)?.took(message.item);
            else if (message.kind === "ended") this.sockets.get(message.id)?.ended(message);
            else this.handlers[message.kind]?.(message);
        };
        model.on("msg:custom", this.receive);
    }

    send(kind, content = {}) {
        this.model.send({ kind, view: this.view, ...content });
    }

    /** Reads a resource of the daemon: its bytes. Fails with the daemon's error. */
    read(path, signal) {
        return new Promise((resolve, reject) => {
            const id = (this.number += 1);
            signal?.addEventListener("abort", () => this.waiting.delete(id) && reject(signal.reason));
            this.waiting.set(id, { resolve, reject });
            this.send("get", { id, path });
        });
    }

    take({ id, status, code, message }, buffers) {
        const { resolve, reject } = this.waiting.get(id) ?? {};
        this.waiting.delete(id);
        if (!resolve) return;
        if (status >= 400) reject(new CallError(message, code, status));
        else resolve(buffers[0]);
    }

    /** A watch that behaves like a WebSocket. */
    open(address) {
        const id = (this.number += 1);
        const socket = {
            readyState: WebSocket.OPEN,
            send: (text) => this.send("send", { id, item: JSON.parse(text) }),
            close: () => {
                this.sockets.delete(id);
                socket.readyState = WebSocket.CLOSED;
                this.send("close", { id });
            },
            took: (item) => socket.onmessage?.({ data: item }),
            ended: ({ code, reason }) => {
                this.sockets.delete(id);
                socket.readyState = WebSocket.CLOSED;
                socket.onclose?.({ code, reason });
            },
        };
        this.sockets.set(id, socket);
        this.send("watch", { id, params: watchParams(new URL(address, "http://kernel")) });
        return socket;
    }

    close() {
        this.model.off("msg:custom", this.receive);
        for (const socket of [...this.sockets.values()]) socket.close();
    }
}

/** The params of WatchClusters from the query of the page's watch. */
function watchParams({ searchParams: query }) {
    const params = { bbox: query.get("bbox").split(",").map(Number), zoom: Number(query.get("zoom")), maxRateHz: 60, transitions: true };
    if (query.has("filter")) params.filter = JSON.parse(query.get("filter"));
    return params;
}

/** Queries by way of the kernel. */
class KernelQueries extends Queries {
    constructor(kernel, source, filter) {
        super(source, filter);
        this.kernel = kernel;
    }

    async get(path, parameters, signal) {
        const bytes = await this.kernel.read(queryPath(path, parameters), signal);
        return JSON.parse(new TextDecoder().decode(bytes));
    }

    open(address) {
        return this.kernel.open(address);
    }
}

/** The world's edges, so many degrees to the west and to the east. */
const world = (side) => L.latLngBounds([[-85.0511287798, -side], [85.0511287798, side]]);

/** Whether the notebook is dark; undefined if only the system says so. */
function isNotebookDark() {
    const { dataset, classList } = document.body;
    if (dataset.jpThemeLight) return dataset.jpThemeLight === "false";
    if (dataset.vscodeThemeKind) return dataset.vscodeThemeKind.includes("dark");
    if (classList.contains("dark") || classList.contains("dark-theme")) return true;
    return undefined;
}

/** One view of the widget. */
class NotebookMap {
    constructor(model, element) {
        this.kernel = new Kernel(model);
        /** Durations that the kernel has not been told yet. */
        this.seconds = [];
        this.element = element;
        element.classList.add("clusterd-map");
        // JupyterLab's own keys are not meant while the map has the focus.
        element.dataset.lmSuppressShortcuts = "true";
        this.setTheme();
        this.box = document.createElement("div");
        this.box.className = "clusterd-map-box";
        element.append(this.box);
        this.setHeight(model.get("height"));
        model.on("change:height", (this.onHeight = () => this.setHeight(model.get("height"))));
        // A box that is not shown yet has no size, and without one there is no view.
        this.sizes = new ResizeObserver(() => this.resized());
        this.sizes.observe(this.box);
        this.themes = new MutationObserver(() => this.setTheme());
        this.themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind", "class"] });
        this.kernel.handlers = {
            start: (message) => this.start(message),
            move: (message) => this.move(message),
            filter: ({ filter }) => this.watchSource(filter),
        };
    }

    setTheme() {
        const isDark = isNotebookDark();
        if (isDark === undefined) delete this.element.dataset.theme;
        else this.element.dataset.theme = isDark ? "dark" : "light";
        this.ground?.redraw();
    }

    setHeight(height) {
        this.box.style.height = `${height}px`;
    }

    resized() {
        const { clientWidth, clientHeight } = this.box;
        if (!clientWidth || !clientHeight) return;
        if (this.map) {
            this.map.invalidateSize({ animate: false });
            return void this.keepWithin();
        }
        this.map = new WorldMap(this.box, { fillsBox: true, zoomSnap: 0, maxZoom: 22, boxZoom: false, maxBounds: world(Infinity), maxBoundsViscosity: 1 });
        L.control.zoom({ position: "bottomright" }).addTo(this.map);
        L.control.attribution({ position: "bottomright", prefix: false }).addTo(this.map);
        this.kernel.send("ready");
    }

    /** The kernel has said what is shown, and where. */
    start({ source, filter, plane, ...place }) {
        const { map } = this;
        this.source = source;
        use(map, plane);
        map.setView([0, 0], map.getMinZoom(), { animate: false, reset: true });
        if (plane) {
            L.rectangle([[plane[1], plane[0]], [plane[3], plane[2]]], { className: "plane", interactive: false }).addTo(map);
        } else {
            this.ground = new GroundLayer(remembering((zoom, x, y) => this.readTile(zoom, x, y))).addTo(map);
        }
        this.markers = new MarkerLayer({
            onOpen: (marker) => this.open(marker),
            onInspect: (marker) => this.click(marker.feature),
            onHover: (marker) => this.hull.show(marker, this.queries, viewport(map).zoom, this.revision),
            onLeave: () => map.getContainer().focus({ preventScroll: true }),
        }).addTo(map);
        this.hull = new Hull(map);
        this.fan = new Fan(map, (feature) => this.click(feature));
        map.on("click", () => this.click(null));
        map.on("move", () => this.follow());
        map.on("zoomanim", ({ center, zoom }) => this.watch?.move(viewport(map, center, zoom)));
        map.on("zoomend", () => this.keepWithin());
        // What a drag brings into view shall be there at once.
        map.on("dragstart", () => (this.markers.isCalm = true));
        map.on("moveend", () => (this.markers.isCalm = false));
        map.on("moveend", () => this.moved());
        this.move(place);
        this.watchSource(filter);
    }

    async readTile(zoom, x, y) {
        const bytes = await this.kernel.read(`/ground/${zoom}/${x}/${y}.mvt`);
        return bytes?.byteLength ? bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) : undefined;
    }

    /** Moves to a box, or to a centre and a zoom; what is not given stays. */
    move({ bbox, center, zoom, home }) {
        const { map } = this;
        if (bbox) {
            const [west, south, east, north] = bbox;
            const bounds = L.latLngBounds([[south, west], [north, east < west ? east + 360 : east]]);
            map.fitBounds(bounds, { animate: false, ...(home ? { padding: [20, 20], maxZoom: 14 } : {}) });
        }
        if (center || zoom !== undefined) {
            map.setView(center ? latLng(map, center) : map.getCenter(), zoom ?? map.getZoom(), { animate: false });
        }
        this.keepWithin();
    }

    /** A world that is no wider than the box stays in it. */
    keepWithin() {
        const { map } = this;
        if (!map._loaded || map.options.crs.infinite) return;
        const isWhole = map.getZoom() <= map.getMinZoom() + 1e-6;
        const { lat, lng } = map.getCenter();
        if (isWhole && Math.abs(lng) > 1e-9) map.setView([lat, 0], map.getZoom(), { animate: false });
        map.options.maxBounds = world(isWhole ? 180 : Infinity);
    }

    // MARK: What is shown

    watchSource(filter) {
        this.watch?.close();
        this.queries = new KernelQueries(this.kernel, this.source, filter === null || filter === undefined ? "" : JSON.stringify(filter));
        this.watch = new Watch(this.queries, viewport(this.map), null, {
            onReset: () => this.markers.reset(),
            onChange: (item) => this.apply(item),
            onState: () => {},
        });
    }

    apply(item) {
        this.revision = item.revision;
        // Moves wait for the answer to the one before: the next question is about where the map is by now.
        if (this.watch.hasMoved) this.follow();
        this.markers.apply(item);
        // What comes while the map zooms is drawn when it has.
        if (this.markers.isZooming) return;
        // An answer is drawn with the frame after it.
        requestAnimationFrame(() => {
            const channel = new MessageChannel();
            channel.port1.onmessage = () => {
                this.report(item.movedAt === undefined ? undefined : (performance.now() - item.movedAt) / 1000);
            };
            channel.port2.postMessage(undefined);
        });
    }

    /** Says what is drawn, in the page at once and to the kernel soon. */
    report(seconds) {
        const { dataset } = this.element;
        dataset.zoom = String(this.map.getZoom());
        if (this.revision !== undefined) Object.assign(dataset, { shown: String(this.markers.markers.size), revision: String(this.revision) });
        if (seconds !== undefined) this.seconds.push(seconds);
        this.reporting ??= setTimeout(() => this.tellKernel(), reportPause);
    }

    /** Each message to the kernel costs the notebook some more, which moves would have to wait for. */
    tellKernel() {
        clearTimeout(this.reporting);
        this.reporting = undefined;
        const { seconds, hasMoved } = this;
        Object.assign(this, { seconds: [], hasMoved: false });
        const drawn = this.revision === undefined ? {} : { shown: this.markers.markers.size, revision: this.revision };
        this.kernel.send("state", { ...drawn, seconds, hasMoved, ...this.place() });
    }

    // MARK: Movement

    follow() {
        if (!this.markers.isZooming) this.moveWatch();
    }

    moveWatch() {
        this.watch?.move(viewport(this.map));
    }

    moved() {
        this.moveWatch();
        this.hasMoved = true;
        this.report();
    }

    place() {
        const { map } = this;
        const { lat, lng } = map.options.crs.infinite ? map.getCenter() : map.getCenter().wrap();
        return { bbox: viewport(map).bbox, zoom: map.getZoom(), center: [lng, lat] };
    }

    // MARK: Clicks

    click(feature) {
        if (feature) {
            const { key, from, ...rest } = feature;
            this.kernel.send("click", { feature: rest });
        } else {
            this.kernel.send("click", { feature: null });
        }
        this.markers.select(feature?.key);
    }

    /** A point is chosen; a cluster is, too, and the map goes where it separates. */
    async open(marker) {
        const { feature } = marker;
        const { map, queries, revision } = this;
        const { zoom } = viewport(map);
        this.hull.hide();
        this.click(feature);
        if (!isCluster(feature)) {
            const together = this.markers.pointsAt(marker);
            if (together.length > 1) this.fan.open(marker.latLng, together.slice(0, mostLeaves).map((other) => other.feature), together.length);
            return;
        }
        try {
            const id = feature.properties.cluster_id;
            const shape = await queries.ofCluster(id, zoom, "hull", { revision });
            if (shape.geometry?.type === "Point") {
                const leaves = await queries.ofCluster(id, zoom, "leaves", { revision, limit: mostLeaves });
                return void this.fan.open(marker.latLng, leaves.features, leaves.total);
            }
            const expansion = await queries.ofCluster(id, zoom, "expansion-zoom", { revision });
            map.setView(latLng(map, feature.geometry.coordinates), Math.min(expansion.zoom, map.getMaxZoom()));
        } catch (error) {
            // The data have changed since the circle was drawn: what is there now is on its way.
            if (error.httpStatus !== 409 && error.httpStatus !== 404) throw error;
        }
    }

    close() {
        clearTimeout(this.reporting);
        this.watch?.close();
        this.kernel.close();
        this.sizes.disconnect();
        this.themes.disconnect();
        this.kernel.model.off("change:height", this.onHeight);
        this.map?.remove();
    }
}

export default {
    render({ model, el }) {
        const map = new NotebookMap(model, el);
        return () => map.close();
    },
};

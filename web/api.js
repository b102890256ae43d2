// SPDX-License-Identifier: MIT
// The daemon's HTTP interface.
import { windowText } from "./indexed.js";

/** An answer that is not a success. `message` says what is wrong and what to do. */
export class CallError extends Error {
    constructor(message, code, httpStatus) {
        super(message);
        this.code = code;
        this.httpStatus = httpStatus;
    }
}

/** A path with parameters; those that are undefined or null are left out. */
export function queryPath(path, parameters = {}) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
        if (value !== undefined && value !== null) query.set(name, value);
    }
    const text = query.toString();
    return text ? `${path}?${text}` : path;
}

async function get(path, signal) {
    const answer = await fetch(path, { signal, headers: { Accept: "application/json" } });
    if (answer.ok) return answer.json();
    let error = {};
    try {
        error = await answer.json();
    } catch {
        // A proxy's error page is not JSON.
    }
    throw new CallError(error.message ?? `${answer.status} ${answer.statusText}`, error.code, answer.status);
}

const sourcePath = (source) => `/sources/${encodeURIComponent(source)}`;

export const settings = () => get("/assets/settings.json");
export const sources = async () => (await get("/sources")).sources;

/** Beyond the last zoom of clusters, which is at most 24: every point by itself. */
const pointsZoom = 25;

/** A box that contains every source, on the world or on a plane. */
const everywhere = [-1e15, -1e15, 1e15, 1e15];

/** An id as a query has it; undefined for a text that would be read as a number, or as several. */
function pinText(id) {
    return typeof id === "number" || (id && Number.isNaN(Number(id)) && !/[,"]/.test(id)) ? String(id) : undefined;
}

/** Queries of one source, or of one of its views, with one filter. What a view shows is also restricted by a window. */
export class Queries {
    /**
     * @param {string} source SOURCE or SOURCE:VIEW
     * @param {string} filter an expression as JSON; empty for none
     * @param {import("./indexed.js").Window} [window] may be replaced, since it does not cluster again
     */
    constructor(source, filter, window) {
        this.source = source;
        this.filter = filter || undefined;
        this.window = window;
    }

    /** Reads a resource of the daemon. A map that is not on the daemon's own page has another way to it. */
    get(path, parameters, signal) {
        return get(queryPath(path, parameters), signal);
    }

    /** Opens a watch at an address: a WebSocket, or what behaves like one. */
    open(address) {
        return new WebSocket(address);
    }

    clusters(bbox, zoom, limit) {
        return this.get(`${sourcePath(this.source)}/clusters`, { bbox: bbox.join(","), zoom, limit, ...this.shown() });
    }

    /** What restricts the points that are shown. */
    shown() {
        return { filter: this.filter, window: windowText(this.window) };
    }

    /** The points in a box, each by itself: at most `limit`; `truncated` says whether there are more. */
    points(bbox = everywhere, limit = undefined, signal = undefined) {
        const query = { bbox: bbox.join(","), zoom: pointsZoom, limit, ...this.shown() };
        return this.get(`${sourcePath(this.source)}/clusters`, query, signal);
    }

    /** All clusters of the lowest zoom. */
    overview() {
        return this.get(`${sourcePath(this.source)}/clusters`, { zoom: 0, filter: this.filter });
    }

    /** `zoom`: at which the cluster was found. A filter that depends on the zoom needs it. */
    ofCluster(id, zoom, what, parameters = {}, signal) {
        const query = this.filter ? { ...parameters, filter: this.filter, zoom } : { ...parameters };
        if (what !== "expansion-zoom") query.window = windowText(this.window);
        return this.get(`${sourcePath(this.source)}/clusters/${id}/${what}`, query, signal);
    }

    /** The cluster or point that shows a feature at a zoom; fails with 404 if it does not pass the filter. */
    locate(featureId, zoom) {
        const id = typeof featureId === "number" ? String(featureId) : `"${featureId}"`;
        return this.get(`${sourcePath(this.source)}/features/${encodeURIComponent(id)}`, { zoom, filter: this.filter });
    }

    /** The points in a box with the greatest values of an indexed property; with "-" before its name, the least. */
    top(bbox, by, limit) {
        return this.get(`${sourcePath(this.source)}/top`, { bbox: bbox.join(","), by, limit, ...this.shown() });
    }

    /** How the values of an indexed property are distributed in a box, or in all; `how` has `bins`, or `edges`. */
    histogram(property, { bbox, bins, edges }) {
        const query = { bbox: bbox?.join(","), property, bins, edges: edges?.join(","), filter: this.filter };
        return this.get(`${sourcePath(this.source)}/histogram`, query);
    }

    /** How many points each square of a zoom's tiles has. */
    grid(bbox, resolution) {
        return this.get(`${sourcePath(this.source)}/grid`, { bbox: bbox.join(","), resolution, ...this.shown() });
    }

    /** The names and types of the points' properties, as TileJSON says them. */
    async fields() {
        const { vector_layers } = await this.get(`${sourcePath(this.source)}/tiles.json`);
        return vector_layers[0].fields;
    }

    /** Where the viewport is watched. `pin`, the id of a feature that is always shown, is left to an item if no query can have it. */
    watchAddress(bbox, zoom, pin, transitions) {
        // The daemon's own limit of ten changes a second would count as its time.
        const query = new URLSearchParams({ bbox: bbox.join(","), zoom, timing: true, maxRateHz: 60 });
        if (transitions) query.set("transitions", "true");
        const restricted = { ...this.shown(), pin: pinText(pin) };
        for (const [name, value] of Object.entries(restricted)) if (value !== undefined) query.set(name, value);
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        return `${scheme}//${location.host}${sourcePath(this.source)}/watch?${query}`;
    }
}

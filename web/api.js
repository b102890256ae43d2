// SPDX-License-Identifier: MIT
// The daemon's HTTP interface.

/** An answer that is not a success. `message` says what is wrong and what to do. */
export class CallError extends Error {
    constructor(message, code, httpStatus) {
        super(message);
        this.code = code;
        this.httpStatus = httpStatus;
    }
}

async function get(path, parameters = {}, signal) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
        if (value !== undefined && value !== null) query.set(name, value);
    }
    const text = query.toString();
    const answer = await fetch(text ? `${path}?${text}` : path, { signal, headers: { Accept: "application/json" } });
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

/** Queries of one source with one filter. */
export class Queries {
    /**
     * @param {string} source
     * @param {string} filter an expression as JSON; empty for none
     */
    constructor(source, filter) {
        this.source = source;
        this.filter = filter || undefined;
    }

    clusters(bbox, zoom, limit) {
        return get(`${sourcePath(this.source)}/clusters`, { bbox: bbox.join(","), zoom, limit, filter: this.filter });
    }

    /** The points in a box, each by itself: at most `limit`; `truncated` says whether there are more. */
    points(bbox = everywhere, limit = undefined, signal = undefined) {
        const query = { bbox: bbox.join(","), zoom: pointsZoom, limit, filter: this.filter };
        return get(`${sourcePath(this.source)}/clusters`, query, signal);
    }

    /** All clusters of the lowest zoom. */
    overview() {
        return get(`${sourcePath(this.source)}/clusters`, { zoom: 0, filter: this.filter });
    }

    /** `zoom`: at which the cluster was found. A filter that depends on the zoom needs it. */
    ofCluster(id, zoom, what, parameters = {}, signal) {
        const query = this.filter ? { ...parameters, filter: this.filter, zoom } : parameters;
        return get(`${sourcePath(this.source)}/clusters/${id}/${what}`, query, signal);
    }

    /** The cluster or point that shows a feature at a zoom; fails with 404 if it does not pass the filter. */
    locate(featureId, zoom) {
        const id = typeof featureId === "number" ? String(featureId) : `"${featureId}"`;
        return get(`${sourcePath(this.source)}/features/${encodeURIComponent(id)}`, { zoom, filter: this.filter });
    }

    /** The names and types of the points' properties, as TileJSON says them. */
    async fields() {
        const { vector_layers } = await get(`${sourcePath(this.source)}/tiles.json`);
        return vector_layers[0].fields;
    }

    /** Where the viewport is watched. */
    watchAddress(bbox, zoom, transitions) {
        // The daemon's own limit of ten changes a second would count as its time.
        const query = new URLSearchParams({ bbox: bbox.join(","), zoom, timing: true, maxRateHz: 30 });
        if (transitions) query.set("transitions", "true");
        if (this.filter) query.set("filter", this.filter);
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        return `${scheme}//${location.host}${sourcePath(this.source)}/watch?${query}`;
    }
}

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

/** Queries of one source with one filter. */
export class Queries {
    constructor(source, filter) {
        this.source = source;
        this.filter = filter || undefined;
    }

    clusters(bbox, zoom, limit) {
        return get(`${sourcePath(this.source)}/clusters`, { bbox: bbox.join(","), zoom, limit, filter: this.filter });
    }

    /** `zoom`: at which the cluster was found. A filter that depends on the zoom needs it. */
    ofCluster(id, zoom, what, parameters = {}, signal) {
        const query = this.filter ? { ...parameters, filter: this.filter, zoom } : parameters;
        return get(`${sourcePath(this.source)}/clusters/${id}/${what}`, query, signal);
    }

    /** Where the viewport is watched. */
    watchAddress(bbox, zoom, transitions) {
        const query = new URLSearchParams({ bbox: bbox.join(","), zoom });
        if (transitions) query.set("transitions", "true");
        if (this.filter) query.set("filter", this.filter);
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        return `${scheme}//${location.host}${sourcePath(this.source)}/watch?${query}`;
    }
}

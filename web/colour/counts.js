// SPDX-License-Identifier: MIT
// How often each value of a property occurs in a cluster: from the source's aggregates or partitions, or from the cluster's points.
import { windowText } from "../indexed.js";

/** Clusters of up to so many points are counted whole; of larger ones a sample is. */
export const mostCounted = 5000;
const samplePages = 5;
const samplePage = 400;
const atOnce = 4;

/** The aggregate of a source that counts a property's values, or has its mean. */
export function aggregateOf(options, property) {
    const reads = (map) => JSON.stringify(map) === JSON.stringify(["get", property]);
    for (const [name, definition] of Object.entries(options?.clusterProperties ?? {})) {
        const [operator, map] = definition;
        if (reads(map) && (operator === "histogram" || operator === "mean")) return { name, operator };
    }
    return undefined;
}

/** Adds up the values of points. */
export function count(features, property) {
    const counts = new Map();
    for (const { properties } of features) {
        const value = properties?.[property] ?? null;
        counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return [...counts];
}

/** Counts of a histogram's members, whose names are texts. A histogram with a rest is not exact. */
function countsOf(histogram, values) {
    if (histogram === null || typeof histogram !== "object" || "…" in histogram) return undefined;
    const known = new Map(values.map((value) => [String(value), value]));
    return Object.entries(histogram).map(([text, number]) => [known.get(text) ?? text, number]);
}

/** Counts values of one property in the clusters of one revision. */
export class Counts {
    /**
     * @param {import("../api.js").Queries} queries
     * @param {{property: string, values: any[], options: object, onCount: () => void}} what `onCount` is called after some
     *   were counted
     */
    constructor(queries, { property, values, options, onCount }) {
        Object.assign(this, { queries, property, values, onCount });
        this.aggregate = aggregateOf(options, property);
        this.isPartition = JSON.stringify(options?.partitionBy) === JSON.stringify(["get", property]);
        this.abort = new AbortController();
        this.found = new Map();
        this.waiting = new Map();
        this.running = new Set();
        /** Whether some clusters show a sample. */
        this.hasSamples = false;
    }

    close() {
        this.abort.abort();
        this.waiting.clear();
    }

    /**
     * @param {object} feature a cluster
     * @param {number} zoom at which it was found
     * @param {number} revision
     * @returns {{counts: [any, number][], isSample: boolean}|undefined} undefined if it is still to be counted
     */
    of(feature, zoom, revision) {
        const { properties } = feature;
        if (this.isPartition && properties.partition !== undefined) {
            return { counts: [[properties.partition, properties.point_count]], isSample: false };
        }
        const key = `${revision}/${windowText(this.queries.window) ?? ""}/${properties.cluster_id}`;
        if (this.found.has(key)) return this.found.get(key);
        const value = this.aggregate && properties[this.aggregate.name];
        if (this.aggregate?.operator === "histogram") {
            const counts = countsOf(value, this.values);
            if (counts) {
                const all = counts.reduce((sum, [, number]) => sum + number, 0);
                if (properties.point_count > all) counts.push([null, properties.point_count - all]);
                return { counts, isSample: false };
            }
        } else if (this.aggregate?.operator === "mean" && typeof value === "number") {
            return { counts: [[value, properties.point_count]], isSample: false };
        }
        if (!this.running.has(key)) this.waiting.set(key, { id: properties.cluster_id, size: properties.point_count, zoom, revision });
        return undefined;
    }

    /** Forgets what was asked for and has not begun: it may be out of sight. */
    forgetWaiting() {
        this.waiting.clear();
    }

    /** Counts what was asked for, the largest first. */
    run() {
        const order = [...this.waiting].sort((one, other) => one[1].size - other[1].size);
        while (this.running.size < atOnce && order.length) {
            const [key, cluster] = order.pop();
            this.waiting.delete(key);
            this.running.add(key);
            this.read(cluster).then((features) => {
                const isSample = features.length < cluster.size;
                this.hasSamples ||= isSample;
                if (this.found.size > 5000) this.found.clear();
                this.found.set(key, { counts: count(features, this.property), isSample });
            }).catch(() => {
                // The data have changed, or the page went on to something else: what is shown then is asked for again.
            }).finally(() => {
                this.running.delete(key);
                if (this.abort.signal.aborted) return;
                this.run();
                clearTimeout(this.timer);
                this.timer = setTimeout(this.onCount, this.waiting.size || this.running.size ? 200 : 0);
            });
        }
    }

    async read({ id, size, zoom, revision }) {
        const leaves = (limit, offset) =>
            this.queries.ofCluster(id, zoom, "leaves", { limit, offset, revision }, this.abort.signal);
        if (size <= mostCounted) return (await leaves(0, 0)).features;
        const features = [];
        for (let page = 0; page < samplePages; page += 1) {
            const offset = Math.floor((page * (size - samplePage)) / (samplePages - 1));
            features.push(...(await leaves(samplePage, offset)).features);
        }
        return features;
    }
}

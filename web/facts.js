// SPDX-License-Identifier: MIT
// What is known of a source's properties: their types, ranges and values. Of a large source a sample is read.

/** Up to as many points all are read; of more, a sample of as many. */
export const mostRead = 5000;
const pages = 20;

/** Members that clusters have, besides those of `clusterProperties`: their own, and those of `include`. */
export const clusterMembers = new Set([
    "cluster", "cluster_id", "point_count", "point_count_abbreviated", "point_weight", "partition", "total_count",
    "hull", "bbox", "expansionZoom", "coincident", "anchor", "spider",
]);

/**
 * @typedef {object} PropertyFacts
 * @property {string} name
 * @property {"number"|"text"|"boolean"|"date"|"other"} kind
 * @property {[any, number][]} values distinct values with their counts, the most frequent first
 * @property {boolean} isCategory whether the values are few
 * @property {number|string|undefined} least of numbers and dates
 * @property {number|string|undefined} greatest
 * @property {number[]} numbers in ascending order
 * @property {string[]|undefined} texts all distinct texts, if all points were read
 * @property {boolean} isComplete whether all points were read
 */

const datePattern = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?$/;

function kindOf(values) {
    const types = new Set(values.map((value) => typeof value));
    if (types.size !== 1) return "other";
    const [type] = types;
    if (type === "string") return values.every((value) => datePattern.test(value)) ? "date" : "text";
    return type === "number" || type === "boolean" ? type : "other";
}

/**
 * @param {object[]} features points
 * @param {boolean} isComplete whether they are all
 * @returns {PropertyFacts[]} in the order in which the points have them
 */
export function factsOf(features, isComplete) {
    const columns = new Map();
    for (const { properties } of features) {
        for (const [name, value] of Object.entries(properties ?? {})) {
            if (value === null || value === undefined) continue;
            if (!columns.has(name)) columns.set(name, []);
            columns.get(name).push(value);
        }
    }
    return [...columns].map(([name, values]) => {
        const kind = kindOf(values);
        const counts = new Map();
        if (kind !== "other") for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
        const distinct = [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
        const isCategory = kind === "boolean" || (kind === "text" && distinct.length <= Math.max(2, Math.min(200, values.length / 2)));
        const numbers = kind === "number" ? values.toSorted((one, other) => one - other) : [];
        const ordered = kind === "number" ? numbers : kind === "date" ? [...counts.keys()].sort() : [];
        return {
            name, kind, values: distinct.slice(0, 200), texts: isComplete && kind === "text" ? [...counts.keys()] : undefined, isCategory, least: ordered[0], greatest: ordered.at(-1), numbers, isComplete,
        };
    });
}

/**
 * Reads a source's points, or of many a sample that is spread evenly over the index's order.
 * @param {import("./api.js").Queries} queries without a filter
 * @param {number} count the source's points
 */
export async function readFacts(queries, count) {
    if (count <= mostRead) return factsOf((await queries.points(undefined, mostRead)).features, true);
    const { features, revision } = await queries.overview();
    const found = features.filter(({ properties }) => !properties?.cluster);
    const clusters = features.filter(({ properties }) => properties?.cluster)
        .sort((one, other) => other.properties.point_count - one.properties.point_count).slice(0, pages);
    const all = clusters.reduce((sum, { properties }) => sum + properties.point_count, 0);
    const requests = clusters.flatMap(({ properties: { cluster_id: id, point_count: size } }) => {
        const number = Math.max(1, Math.round((pages * size) / all));
        const limit = Math.max(1, Math.min(Math.ceil((mostRead * size) / all / number), Math.ceil(size / number)));
        return Array.from({ length: number }, (_, index) => ({ id, limit, offset: Math.floor((index * size) / number) }));
    });
    for (const { id, limit, offset } of requests) {
        found.push(...(await queries.ofCluster(id, 0, "leaves", { limit, offset, revision })).features);
    }
    return factsOf(found, false);
}

/** The property that names a point: a usual one, or the text with the most different values. */
export function namingProperty(facts) {
    const texts = facts.filter(({ kind }) => kind === "text");
    const usual = ["name", "title", "label", "ident"];
    const found = usual.map((name) => texts.find((fact) => fact.name.toLowerCase() === name)).find(Boolean);
    return found ?? texts.toSorted((one, other) => other.values.length - one.values.length)[0];
}

/** The property whose texts tell points apart, if there is one: of a few kinds none is a name. */
export function titleProperty(facts) {
    const found = namingProperty(facts);
    return found?.isCategory ? undefined : found?.name;
}

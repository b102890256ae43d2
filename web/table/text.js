// SPDX-License-Identifier: MIT
// Points as rows of a table, and as files. Pure.

/**
 * The columns of points: their properties, in the order of those that are known and then as they occur, then their positions.
 * @param {string[]} known
 */
export function columnsOf(features, known = []) {
    const found = new Set(features.flatMap(({ properties }) => Object.keys(properties ?? {})));
    const names = new Set(known.filter((name) => found.has(name)));
    for (const { properties } of features) for (const name of Object.keys(properties ?? {})) names.add(name);
    const hasIds = features.some(({ id }) => id !== undefined);
    const columns = [...names].map((name) => ({ name, read: ({ properties }) => properties?.[name] }));
    if (hasIds) columns.unshift({ name: names.has("id") ? "feature id" : "id", isId: true, read: ({ id }) => id });
    columns.push({ name: "longitude", read: ({ geometry }) => geometry.coordinates[0] });
    columns.push({ name: "latitude", read: ({ geometry }) => geometry.coordinates[1] });
    return columns;
}

const rank = (value) => (value === undefined || value === null ? 3 : typeof value === "number" ? 0 : typeof value === "string" ? 1 : 2);

/** Orders values: numbers, then texts as people order them, then the rest; what is missing comes last in both directions. */
export function comparison(read, isDescending) {
    const collator = new Intl.Collator("en", { numeric: true });
    const sign = isDescending ? -1 : 1;
    return (one, other) => {
        const [first, second] = [read(one), read(other)];
        const [firstRank, secondRank] = [rank(first), rank(second)];
        if (firstRank === 3 || secondRank === 3) return firstRank - secondRank;
        if (firstRank !== secondRank) return sign * (firstRank - secondRank);
        if (firstRank === 0) return sign * (first - second);
        return sign * collator.compare(cellText(first), cellText(second));
    };
}

export function cellText(value) {
    if (value === undefined || value === null) return "";
    return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** RFC 4180. A text that a spreadsheet would take for a formula is preceded by an apostrophe. */
export function csvOf(columns, features) {
    const field = (value) => {
        let text = cellText(value);
        if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
        return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const rows = features.map((feature) => columns.map(({ read }) => field(read(feature))).join(","));
    return [columns.map(({ name }) => field(name)).join(","), ...rows].join("\r\n") + "\r\n";
}

export function geoJSONOf(features) {
    return `{"type":"FeatureCollection","features":[\n${features.map((feature) => JSON.stringify(feature)).join(",\n")}\n]}\n`;
}

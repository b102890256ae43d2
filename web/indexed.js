// SPDX-License-Identifier: MIT
// A source's indexed properties, and windows of them. Pure.

/**
 * A range of one indexed property: `from` is in it, `to` is not; undefined is no bound.
 * @typedef {{property: string, from?: number, to?: number}} Window
 */

/** Whether an expression gives a time, in milliseconds since 1970. */
export function isTime(expression) {
    if (!Array.isArray(expression)) return false;
    const [operator, ...inputs] = expression;
    if (operator === "to-timestamp") return true;
    return ["coalesce", "case", "match", "min", "max"].includes(operator) && inputs.some(isTime);
}

/** The one member of a feature that an expression reads; undefined if there are several, or none. */
export function memberOf(expression) {
    const found = new Set();
    const look = (part) => {
        if (!Array.isArray(part)) return;
        if (part[0] === "get" && part.length === 2 && typeof part[1] === "string") found.add(part[1]);
        else part.slice(1).forEach(look);
    };
    look(expression);
    return found.size === 1 ? [...found][0] : undefined;
}

/** @returns {{name: string, isTime: boolean, member: string|undefined}[]} */
export function indexedOf(options) {
    return Object.entries(options?.indexedProperties ?? {})
        .map(([name, expression]) => ({ name, isTime: isTime(expression), member: memberOf(expression) }));
}

/** Whether a window leaves something out. */
export const isBounded = (window) => window?.from !== undefined || window?.to !== undefined;

/** As HTTP's queries and the page's address have it; undefined without a bound. */
export const windowText = (window) => (isBounded(window) ? rangeText(window) : undefined);

/** As `windowText`, for a window without bounds too. */
export const rangeText = ({ property, from = "", to = "" }) => `${property},${from},${to}`;

/** As a watch's item has it; null without a bound. */
export const windowItem = (window) => (isBounded(window) ? { [window.property]: [window.from ?? null, window.to ?? null] } : null);

/** @returns {Window|undefined} undefined for a text that is none */
export function readWindow(text) {
    const parts = text.split(",");
    if (parts.length !== 3 || !parts[0]) return undefined;
    const [from, to] = parts.slice(1).map((end) => (end.trim() === "" ? undefined : Number(end)));
    if (Number.isNaN(from) || Number.isNaN(to)) return undefined;
    return { property: parts[0], from, to };
}

/** The options of one of a source's views: its own, then those of the source. Null means none. */
export function optionsOf(options, view) {
    const own = Object.entries(options?.views?.[view] ?? {});
    const merged = { ...options, ...Object.fromEntries(own) };
    for (const [name, value] of own) if (value === null) delete merged[name];
    return merged;
}

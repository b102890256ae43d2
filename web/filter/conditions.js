// SPDX-License-Identifier: MIT
// Conditions as people write them, and the expressions that say the same. Pure.

/**
 * @typedef {object} Condition
 * @property {string} property
 * @property {Operator} operator
 * @property {any} [value] of "between" [from, to], either of which may be undefined; of "one of" a list
 * @typedef {"is"|"is not"|"one of"|"contains"|"begins with"|"between"|"at least"|"at most"|"is true"|"is false"|"is known"|"is missing"} Operator
 */

/** @type {Record<string, Operator[]>} which operators a kind of property has, the most useful first */
export const operatorsOf = {
    category: ["one of", "is not", "contains", "is known", "is missing"],
    text: ["contains", "begins with", "is", "is not", "is known", "is missing"],
    number: ["between", "at least", "at most", "is", "is not", "is known", "is missing"],
    date: ["between", "at least", "at most", "is known", "is missing"],
    boolean: ["is true", "is false", "is known", "is missing"],
    other: ["is known", "is missing"],
};

export const operators = (fact) => operatorsOf[fact.isCategory && fact.kind === "text" ? "category" : fact.kind];

const get = (name) => ["get", name];
const lower = (name) => ["downcase", ["to-string", get(name)]];

/** The day after one, so that a range of days includes its last: 2024-02-28 to 2024-02-29. */
export function dayAfter(day) {
    const date = new Date(`${day.slice(0, 10)}T00:00:00Z`);
    date.setUTCDate(date.getUTCDate() + 1);
    return date.toISOString().slice(0, 10);
}

const isDay = (value) => typeof value === "string";

/** @param {Condition} condition; undefined if it has no value yet */
export function expressionOf({ property, operator, value }) {
    const upper = (most) => (isDay(most) ? ["<", get(property), dayAfter(most)] : ["<=", get(property), most]);
    switch (operator) {
        case "is": return value === undefined || value === "" ? undefined : ["==", get(property), value];
        case "is not": return value === undefined || value === "" ? undefined : ["!=", get(property), value];
        case "one of": return value?.length ? ["in", get(property), ["literal", value]] : undefined;
        case "contains": return value ? ["in", value.toLowerCase(), lower(property)] : undefined;
        case "begins with": return value ? ["==", ["slice", lower(property), 0, value.length], value.toLowerCase()] : undefined;
        case "at least": return value === undefined || value === "" ? undefined : [">=", get(property), value];
        case "at most": return value === undefined || value === "" ? undefined : upper(value);
        case "between": {
            const ends = (value ?? []).map((end) => (end === "" ? undefined : end));
            // Ends in the other order mean the same range: nothing is between them as they are.
            const [from, to] = ends[0] > ends[1] ? ends.toReversed() : ends;
            const parts = [from === undefined ? undefined : [">=", get(property), from], to === undefined ? undefined : upper(to)].filter(Boolean);
            return parts.length > 1 ? ["all", ...parts] : parts[0];
        }
        case "is true": return ["==", get(property), true];
        case "is false": return ["==", get(property), false];
        case "is known": return ["!=", get(property), null];
        case "is missing": return ["==", get(property), null];
        default: return undefined;
    }
}

/** @param {Condition[]} conditions; undefined if none has a value */
export function filterOf(conditions) {
    const parts = conditions.map(expressionOf).filter((part) => part !== undefined);
    return parts.length > 1 ? ["all", ...parts] : parts[0];
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** The condition that an expression was made of; undefined if it was made otherwise. */
function conditionOf(expression) {
    const candidates = [];
    const [name, first, second] = expression;
    const dayBefore = (day) => new Date(Date.parse(`${day.slice(0, 10)}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
    const property = (part) => (Array.isArray(part) && part[0] === "get" && typeof part[1] === "string" ? part[1] : undefined);
    const upper = (part) => (part[0] === "<" && isDay(part[2]) && /^\d{4}-\d\d-\d\d/.test(part[2]) ? dayBefore(part[2]) : part[2]);
    const add = (operator, found, value) => found !== undefined && candidates.push({ property: found, operator, value });
    if (name === "==" && typeof second === "boolean") add(second ? "is true" : "is false", property(first));
    if (name === "==" && second === null) add("is missing", property(first));
    if (name === "!=" && second === null) add("is known", property(first));
    if (name === "==") add("is", property(first), second);
    if (name === "!=") add("is not", property(first), second);
    if (name === ">=") add("at least", property(first), second);
    if (name === "<=" || name === "<") add("at most", property(first), upper(expression));
    if (name === "in" && second?.[0] === "literal") add("one of", property(first), second[1]);
    if (name === "in" && typeof first === "string") add("contains", property(second?.[1]?.[1]), first);
    if (name === "==" && first?.[0] === "slice") add("begins with", property(first[1]?.[1]?.[1]), second);
    if (name === "all" && expression.length === 3 && first?.[0] === ">=") add("between", property(first[1]), [first[2], upper(second)]);
    return candidates.find((condition) => same(expressionOf(condition), expression));
}

/**
 * The conditions that a filter was made of.
 * @returns {Condition[]|undefined} undefined if the filter says something that conditions cannot
 */
export function conditionsOf(filter) {
    if (filter === undefined) return [];
    if (!Array.isArray(filter)) return undefined;
    try {
        const whole = conditionOf(filter);
        if (whole) return [whole];
        const parts = filter[0] === "all" ? filter.slice(1).map(conditionOf) : [undefined];
        return parts.length && parts.every(Boolean) ? parts : undefined;
    } catch {
        return undefined;
    }
}

const valueText = (value) => (typeof value === "number" ? value.toLocaleString("en") : String(value));

/** A condition in words: population between 1 and 5 */
export function conditionText({ property, operator, value }) {
    if (operator === "between") {
        const [from, to] = value;
        if (from === undefined || from === "") return `${property} at most ${valueText(to)}`;
        if (to === undefined || to === "") return `${property} at least ${valueText(from)}`;
        return `${property} between ${valueText(from)} and ${valueText(to)}`;
    }
    if (operator === "one of") return value.length === 1 ? `${property} is ${value[0]}` : `${property} one of ${value.join(", ")}`;
    return value === undefined ? `${property} ${operator}` : `${property} ${operator} ${valueText(value)}`;
}

/** An expression that is true of some points of a source, to show how one is written. */
export function exampleFilter(facts) {
    const number = facts.find(({ kind, least, greatest }) => kind === "number" && least < greatest);
    if (number) return [">=", get(number.name), number.numbers[Math.floor(number.numbers.length / 2)]];
    const category = facts.find(({ isCategory, values }) => isCategory && values.length > 1) ?? facts.find(({ kind }) => kind === "text");
    if (category) return ["==", get(category.name), category.values[0][0]];
    return [">", ["id"], 0];
}

/** The property that a new condition begins with: one that few values divide, and that no other condition is about. */
export function proposedFact(facts, used = []) {
    const free = facts.filter(({ name }) => !used.includes(name));
    const offered = free.length ? free : facts;
    return offered.find(({ isCategory, values }) => isCategory && values.length > 1) ??
        offered.find(({ kind }) => kind === "number") ?? offered[0];
}

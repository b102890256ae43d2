// SPDX-License-Identifier: MIT
// Which colour a value has: categories by their frequency, numbers by steps. Pure.

/** Colours that people with any kind of sight tell apart (Okabe and Ito's, with two more). */
export const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a000", "#7a5195"];
/** From few to many: viridis. */
export const sequence = ["#fde725", "#7ad151", "#22a884", "#2a788e", "#414487"];
export const otherColour = "#8a97a3";
export const missingColour = "#c9d0d6";

/**
 * @typedef {object} Scale
 * @property {string} property
 * @property {"categories"|"steps"} kind
 * @property {{label: string, colour: string}[]} entries for the legend
 * @property {(value: any) => number} entryOf the index of a value's entry
 */

/** A number that is easy to read, near another. */
export function rounded(number, digits = 2) {
    if (number === 0) return 0;
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(number))) + 1 - digits);
    const value = Math.round(number / unit) * unit;
    return Number(value.toPrecision(12));
}

/** As many digits tell years apart. */
const mostDigits = 4;

const numberText = (number) => (Math.abs(number) >= 10_000
    ? number.toLocaleString("en", { notation: "compact", maximumSignificantDigits: mostDigits })
    : number.toLocaleString("en", { maximumSignificantDigits: mostDigits, useGrouping: "min2" }));

/** Where numbers are divided, so that about as many are in each part; in as few digits as keep the parts apart. */
export function breaksOf(numbers, parts = sequence.length) {
    const exact = Array.from({ length: parts - 1 }, (_, index) => numbers[Math.floor(((index + 1) * numbers.length) / parts)]);
    const ascending = (values) => values.reduce((found, value) => (value > (found.at(-1) ?? numbers[0]) ? [...found, value] : found), []);
    const wanted = ascending(exact).length;
    let breaks = [];
    for (let digits = 2; digits <= mostDigits && breaks.length < wanted; digits += 1) {
        const found = ascending(exact.map((value) => rounded(value, digits)));
        if (digits === 2 || found.length > breaks.length) breaks = found;
    }
    return breaks;
}

/** @returns {Scale|undefined} undefined for a property that has neither categories nor numbers */
export function scaleOf(fact) {
    if (fact.kind === "number" && fact.numbers.length) {
        const breaks = breaksOf(fact.numbers);
        const shades = sequence.slice(-(breaks.length + 1));
        const labels = shades.map((_, index) => {
            if (!breaks.length) return numberText(fact.least);
            if (index === 0) return `below ${numberText(breaks[0])}`;
            if (index === breaks.length) return `${numberText(breaks.at(-1))} and more`;
            return `${numberText(breaks[index - 1])} to ${numberText(breaks[index])}`;
        });
        const entries = shades.map((colour, index) => ({ label: labels[index], colour }));
        entries.push({ label: "no number", colour: missingColour });
        return {
            property: fact.name, kind: "steps", entries,
            entryOf: (value) => (typeof value === "number" ? breaks.filter((edge) => value >= edge).length : entries.length - 1),
        };
    }
    if (!["text", "boolean", "date"].includes(fact.kind)) return undefined;
    const named = fact.values.slice(0, palette.length).map(([value]) => value);
    const entries = named.map((value, index) => ({ label: String(value) || "(empty)", colour: palette[index] }));
    const hasOther = fact.values.length > named.length || !fact.isComplete;
    if (hasOther) entries.push({ label: "other", colour: otherColour });
    entries.push({ label: "none", colour: missingColour });
    const places = new Map(named.map((value, index) => [value, index]));
    return {
        property: fact.name, kind: "categories", entries,
        entryOf: (value) => {
            if (value === undefined || value === null) return entries.length - 1;
            return places.get(value) ?? (hasOther ? named.length : entries.length - 1);
        },
    };
}

/**
 * What a cluster's circle shows.
 * @param {Scale} scale
 * @param {[any, number][]} counts of values
 * @returns {number[]} the share of each entry; they add up to 1
 */
export function sharesOf(scale, counts) {
    const shares = scale.entries.map(() => 0);
    let all = 0;
    for (const [value, count] of counts) {
        shares[scale.entryOf(value)] += count;
        all += count;
    }
    return all ? shares.map((share) => share / all) : shares;
}

/** The mean of the numbers among values; undefined if there are none. */
export function meanOf(counts) {
    let [sum, all] = [0, 0];
    for (const [value, count] of counts) {
        if (typeof value !== "number") continue;
        sum += value * count;
        all += count;
    }
    return all ? sum / all : undefined;
}

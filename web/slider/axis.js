// SPDX-License-Identifier: MIT
// The slider's axis: from an indexed property's least value to its greatest, as positions from 0 to 1. Pure.
import { rounded } from "../colour/scale.js";

export const bars = 64;
/** Steps of an arrow key from one end of the axis to the other. */
const keySteps = 100;

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

/** A number with one leading digit 1, 2 or 5 that is at most another. */
function stepBelow(number) {
    const unit = 10 ** Math.floor(Math.log10(number));
    return unit * (number / unit >= 5 ? 5 : number / unit >= 2 ? 2 : 1);
}

/** Whether nearly all values are in the first of many equal parts, so that a logarithmic axis shows more. */
function isSkewed(least, greatest, counts) {
    const all = counts.reduce((sum, count) => sum + count, 0);
    return least > 0 && greatest / least > 100 && counts.slice(0, Math.ceil(counts.length / 16)).reduce((sum, count) => sum + count, 0) > 0.8 * all;
}

const dateFormat = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const dates = dateFormat({ day: "numeric", month: "short", year: "numeric" });
const minutes = dateFormat({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const seconds = dateFormat({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });

export class Axis {
    /**
     * @param {{edges: number[], counts: number[]}} histogram of all values, from the least to the greatest
     * @param {boolean} isTime whether values are milliseconds since 1970
     */
    constructor({ edges, counts }, isTime) {
        Object.assign(this, { least: edges[0], greatest: edges.at(-1), isTime });
        const breadth = this.greatest - this.least;
        this.isLogarithmic = !isTime && isSkewed(this.least, this.greatest, counts);
        this.step = isTime ? [day, hour, minute, second].find((unit) => unit <= breadth / 200) ?? 1 : stepBelow(breadth / 500);
    }

    /** Where a value is, from 0 to 1; of no bound, at the end that is given. */
    positionOf(value, end = 0) {
        if (value === undefined) return end;
        const scale = this.isLogarithmic ? (number) => Math.log(Math.max(number, this.least)) : (number) => number;
        const position = (scale(value) - scale(this.least)) / (scale(this.greatest) - scale(this.least));
        return Math.max(0, Math.min(1, position));
    }

    exactValue(position) {
        if (this.isLogarithmic) return this.least * (this.greatest / this.least) ** position;
        return this.least + position * (this.greatest - this.least);
    }

    /** The value at a position, in as few digits as the axis needs; undefined, which is no bound, at both ends. */
    valueAt(position) {
        if (position <= 0 || position >= 1) return undefined;
        const exact = this.exactValue(position);
        const value = this.isLogarithmic ? rounded(exact, 3) : Number((Math.round(exact / this.step) * this.step).toPrecision(15));
        return value <= this.least || value >= this.greatest ? undefined : value;
    }

    /** The position that is a number of an arrow key's steps from another, within the axis, and has another value. */
    moved(position, steps) {
        const within = (number) => Math.max(0, Math.min(1, number));
        return within(Math.round((position + steps / keySteps) * 1e9) / 1e9);
    }

    /** The edges of the histogram's bars. */
    get edges() {
        return Array.from({ length: bars + 1 }, (_, index) => (index === bars ? this.greatest : this.exactValue(index / bars)));
    }

    text(value) {
        if (!this.isTime) {
            const digits = this.isLogarithmic ? 3 : Math.max(2, Math.ceil(Math.log10(Math.max(Math.abs(this.least), Math.abs(this.greatest)) / this.step) - 1e-9) + 1);
            const isLarge = Math.abs(value) >= 100_000;
            return value.toLocaleString("en", { maximumSignificantDigits: Math.min(digits, 15), useGrouping: "min2", ...(isLarge ? { notation: "compact" } : {}) });
        }
        return (this.step >= day ? dates : this.step >= minute ? minutes : seconds).format(value).replace(",", "");
    }
}

/**
 * The outline of bars in a box of 64 times 1, as an SVG path. A bar that has something is seen.
 * @param {number[]} counts
 */
export function outlineOf(counts, breadth = bars) {
    const most = Math.max(1, ...counts);
    const unit = breadth / counts.length;
    return counts.map((count, index) => {
        if (!count) return "";
        const height = Math.max(0.03, count / most);
        return `M${(index * unit).toFixed(3)} 1v${(-height).toFixed(4)}h${(0.88 * unit).toFixed(3)}V1z`;
    }).join("");
}

/**
 * A range that moves on along the axis while it is played, and begins again at the end.
 * @param {[number, number]} range positions
 * @param {number} part of the axis to move on by
 * @returns {[number, number]}
 */
export function played([from, to], part) {
    const breadth = to - from;
    if (breadth >= 1) return [0, 0.1];
    if (to >= 1) return [0, breadth];
    const end = Math.min(1, to + part);
    return [end - breadth, end];
}

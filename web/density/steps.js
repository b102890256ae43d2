// SPDX-License-Identifier: MIT
// How many points a square has, as steps of colour. Pure.
import { rounded, sequence } from "../colour/scale.js";

/** The side of a square is 16 to 32 pixels. */
const zoomsDeeper = 5;
export const resolutionOf = (zoom) => Math.max(0, Math.min(26, Math.floor(zoom) + zoomsDeeper));

/** The least counts of the steps, ascending from 1: each is about as many times the one before. */
export function stepsOf(most) {
    const exact = Array.from({ length: sequence.length }, (_, index) => Math.max(1, most) ** (index / sequence.length));
    return [...new Set(exact.map((number) => Math.max(1, rounded(number, number < 100 ? 1 : 2))))].map(Math.round);
}

/** Dense squares stand out from the ground: dark on a light one, light on a dark one. */
export function shadesOf(steps, isDark) {
    const shades = isDark ? sequence.toReversed() : sequence;
    return steps.map((_, index) => shades[steps.length === 1 ? shades.length - 1 : Math.round((index * (shades.length - 1)) / (steps.length - 1))]);
}

/** The index of a count's step. */
export const stepOf = (steps, count) => steps.findLastIndex((least) => count >= least);

/** What the legend says of each step. */
export function labelsOf(steps, most) {
    const text = (number) => number.toLocaleString("en");
    return steps.map((least, index) => {
        const last = index + 1 < steps.length ? steps[index + 1] - 1 : most;
        return last > least ? `${text(least)} to ${text(last)}` : text(least);
    });
}

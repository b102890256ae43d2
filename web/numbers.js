// SPDX-License-Identifier: MIT
// Numbers as people read them.

const grouped = new Intl.NumberFormat("en");

/** 1,723 */
export const count = (number) => grouped.format(number);

/** 1 point, 2 points */
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** 52.52°N 13.41°E */
export function position([longitude, latitude]) {
    const part = (value, positive, negative) =>
        `${Math.abs(Math.round(value * 1e5) / 1e5)}°${value < 0 ? negative : positive}`;
    return `${part(latitude, "N", "S")} ${part(longitude, "E", "W")}`;
}

/** 14:03:22 */
export const clock = (date) => date.toLocaleTimeString("en-GB");

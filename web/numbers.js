// SPDX-License-Identifier: MIT
// Numbers as people read them.

const grouped = new Intl.NumberFormat("en");

/** 1,723 */
export const count = (number) => grouped.format(number);

/** 1 point, 2 points */
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** 14:03:22 */
export const clock = (date) => date.toLocaleTimeString("en-GB");

// SPDX-License-Identifier: MIT
// What the page says in words: a notice that stays, and one that goes by itself.
import { element } from "../dom.js";

let toasting;

/** Shows a notice until the next one; "" for none. */
export function notify(message) {
    element("notice").textContent = message;
    element("notice").hidden = !message;
}

export function toast(message) {
    element("toast").textContent = message;
    element("toast").hidden = false;
    clearTimeout(toasting);
    toasting = setTimeout(() => (element("toast").hidden = true), 4000);
}

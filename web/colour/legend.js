// SPDX-License-Identifier: MIT
// The map's legend: what sizes and colours mean.
import { make } from "../dom.js";

const steps = [["small", "2 to 99 points"], ["medium", "100 to 749"], ["large", "750 or more"]];

/**
 * @param {HTMLElement} box
 * @param {import("./scale.js").Scale} [scale] without one the circles' colours are steps of their counts
 * @param {{hasSamples?: boolean, isMean?: boolean}} [how]
 */
export function showLegend(box, scale, { hasSamples = false } = {}) {
    if (!scale) {
        const items = [["point", "one point"], ...steps].map(([name, text]) => make("li", {}, make("span", { className: `swatch ${name}` }), text));
        box.replaceChildren(make("summary", {}, "Points in a circle"), make("ul", {}, ...items));
        return;
    }
    const items = scale.entries.map(({ label, colour }) => {
        const swatch = make("span", { className: "swatch" });
        swatch.style.background = colour;
        return make("li", {}, swatch, label);
    });
    const notes = [];
    if (scale.kind === "categories") notes.push("A ring shows the shares of a circle's points.");
    else notes.push("A circle has the mean of its points.");
    if (hasSamples) notes.push("Large circles: of a sample.");
    box.replaceChildren(make("summary", {}, scale.property), make("ul", {}, ...items), make("p", { className: "note" }, notes.join(" ")));
}

/**
 * What the squares of the density mean.
 * @param {HTMLElement} box
 * @param {string[]} labels
 * @param {string[]} shades their colours
 */
export function showDensityLegend(box, labels, shades) {
    const items = labels.map((label, index) => {
        const swatch = make("span", { className: "swatch square" });
        swatch.style.background = shades[index];
        return make("li", {}, swatch, label);
    });
    box.hidden = !items.length;
    box.replaceChildren(make("summary", {}, "Points in a square"), make("ul", {}, ...items));
}

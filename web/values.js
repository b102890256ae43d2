// SPDX-License-Identifier: MIT
// A property's value as elements: text, links and pictures. Nothing in it is ever read as HTML or run.
import { make } from "./dom.js";
import { count } from "./numbers.js";

const linkPattern = /^(https?:\/\/[^\s<>"]+|mailto:[^\s<>"]+)$/i;
const picturePattern = /\.(png|jpe?g|gif|webp|avif|svg)(?:[?#].*)?$/i;

/** What a text is, by its beginning: an address of the web may be a picture's. */
export function kindOfText(text) {
    if (/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(text)) return "picture";
    if (!linkPattern.test(text)) return "text";
    return picturePattern.test(text) ? "linked picture" : "link";
}

function link(address, content) {
    return make("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, content);
}

/**
 * A picture of another site is loaded only when somebody asks for it: the page itself loads nothing from outside, and the
 * site would learn who looks at the map. The page's policy allows such pictures in an own window.
 */
function textValue(text) {
    const kind = kindOfText(text);
    if (kind === "picture") return make("img", { src: text, alt: "", className: "picture" });
    if (kind === "link") return link(text, text);
    if (kind === "linked picture") {
        const isOwn = new URL(text).origin === location.origin;
        if (isOwn) return link(text, make("img", { src: text, alt: text, className: "picture" }));
        return make("span", {}, "🖼 ", link(text, text));
    }
    return make("span", {}, text);
}

/** Of four digits none are grouped, since many such numbers are years. */
export const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 6, useGrouping: "min2" });

/** @param {any} value of JSON */
export function valueElement(value) {
    if (typeof value === "string") return textValue(value);
    if (typeof value === "number") return make("span", { title: String(value) }, grouped.format(value));
    if (Array.isArray(value) && value.every((part) => typeof part !== "object")) return make("span", {}, value.join(", "));
    if (value !== null && typeof value === "object") {
        const entries = Object.entries(value);
        if (entries.every(([, part]) => typeof part === "number")) return bars(entries);
        return make("code", {}, JSON.stringify(value, null, 1));
    }
    return make("span", {}, value === null ? "–" : String(value));
}

/** Counts by name as bars, the most frequent first. */
export function bars(entries, colourOf = () => undefined) {
    const order = entries.toSorted((one, other) => other[1] - one[1]);
    const all = order.reduce((sum, [, number]) => sum + number, 0) || 1;
    const list = make("ol", { className: "bars" });
    for (const [name, number] of order) {
        const share = (100 * number) / all;
        const bar = make("span", { className: "bar" });
        bar.style.width = `${share}%`;
        const colour = colourOf(name);
        if (colour) bar.style.background = colour;
        const text = `${count(number)} (${share < 1 ? share.toFixed(1) : Math.round(share)} %)`;
        list.append(make("li", {}, make("span", { className: "bar-name" }, name === null ? "none" : name === "" ? "(empty)" : name), make("span", { className: "bar-count" }, text), bar));
    }
    return list;
}

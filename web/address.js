// SPDX-License-Identifier: MIT
// What the page's address keeps:
// /?source=S&view=V&filter=…&colour=P&window=P,FROM,TO&top=P&density=1&pin=ID#ZOOM/LAT/LON
import { rangeText, readWindow } from "./indexed.js";

export function read() {
    const query = new URLSearchParams(location.search);
    const text = (name) => query.get(name) ?? "";
    return {
        source: text("source"), variant: text("view"), filter: text("filter"), colour: text("colour"), window: readWindow(text("window")),
        top: text("top"), density: text("density") === "1", pin: readPin(text("pin")), view: readView(),
    };
}

/** An id as JSON, so that a text of digits is no number; anything else is a text. */
function readPin(text) {
    if (!text) return null;
    try {
        const value = JSON.parse(text);
        if (typeof value === "number" || typeof value === "string") return value;
    } catch {
        // An id without quotes.
    }
    return text;
}

const pinText = (pin) => (typeof pin === "string" && readPin(pin) === pin ? pin : JSON.stringify(pin));

/** undefined if the address has no view, or a wrong one. */
export function readView() {
    const parts = location.hash.slice(1).split("/").map(Number);
    const [zoom, latitude, longitude] = parts;
    if (parts.length !== 3 || !parts.every(Number.isFinite)) return undefined;
    if (zoom > 24) return undefined;
    return { zoom, latitude, longitude };
}

/** Replaces the address; `isNew` makes an entry in the browser's history. */
export function write({ source, variant, filter, colour, window, top, density, pin = null, view }, isNew = false) {
    const query = new URLSearchParams();
    const kept = {
        source, view: variant, filter, colour, window: window && rangeText(window), top, density: density ? "1" : "",
        pin: pin === null ? "" : pinText(pin),
    };
    for (const [name, value] of Object.entries(kept)) if (value) query.set(name, value);
    // A comma needs no escape in a query, and is read more easily without.
    const text = query.toString().replaceAll("%2C", ",");
    const hash = view ? `#${view.zoom}/${view.latitude.toFixed(5)}/${view.longitude.toFixed(5)}` : "";
    const address = `${location.pathname}${text ? `?${text}` : ""}${hash}`;
    if (address === location.pathname + location.search + location.hash) return;
    history[isNew ? "pushState" : "replaceState"](null, "", address);
}

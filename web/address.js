// SPDX-License-Identifier: MIT
// What the page's address keeps: /?source=S&filter=…&colour=P#ZOOM/LAT/LON

export function read() {
    const query = new URLSearchParams(location.search);
    return { source: query.get("source") ?? "", filter: query.get("filter") ?? "", colour: query.get("colour") ?? "", view: readView() };
}

/** undefined if the address has no view, or a wrong one. */
export function readView() {
    const parts = location.hash.slice(1).split("/").map(Number);
    const [zoom, latitude, longitude] = parts;
    if (parts.length !== 3 || !parts.every(Number.isFinite)) return undefined;
    if (zoom > 24) return undefined;
    return { zoom, latitude, longitude };
}

/** Replaces the address; `isNew` makes an entry in the browser's history. */
export function write({ source, filter, colour, view }, isNew = false) {
    const query = new URLSearchParams();
    if (source) query.set("source", source);
    if (filter) query.set("filter", filter);
    if (colour) query.set("colour", colour);
    const text = query.toString();
    const hash = view ? `#${view.zoom}/${view.latitude.toFixed(5)}/${view.longitude.toFixed(5)}` : "";
    const address = `${location.pathname}${text ? `?${text}` : ""}${hash}`;
    if (address === location.pathname + location.search + location.hash) return;
    history[isNew ? "pushState" : "replaceState"](null, "", address);
}

// SPDX-License-Identifier: MIT
// What a marker looks like: a circle sized by 1 + log n and coloured by step, or a dot.
import { count, counted } from "./numbers.js";

export const isCluster = (feature) => feature.properties?.cluster === true;
export const pointCount = (feature) => (isCluster(feature) ? feature.properties.point_count : 1);

const nameProperties = ["name", "title", "label", "Name", "NAME", "ident"];

/** What a marker is called. */
export function nameOf(feature) {
    if (isCluster(feature)) return `Cluster of ${counted(feature.properties.point_count, "point")}`;
    for (const property of nameProperties) {
        const name = feature.properties?.[property];
        if (typeof name === "string" && name) return name;
    }
    return feature.id === undefined ? "Point" : `Point ${feature.id}`;
}

const radius = (number) => 4 * (1 + Math.log(number));
const step = (number) => (number < 100 ? "small" : number < 750 ? "medium" : "large");
const dotRadius = 5.5;

/** Makes a marker's circle and its label, which is above all circles, show a feature. */
export function dress([element, label], feature) {
    const number = pointCount(feature);
    const half = isCluster(feature) ? radius(number) : dotRadius;
    const text = isCluster(feature) ? String(feature.properties.point_count_abbreviated ?? count(number)) : "";
    element.className = `marker leaflet-zoom-animated ${isCluster(feature) ? step(number) : "point"}`;
    const style = element.style;
    style.width = style.height = `${2 * half}px`;
    style.margin = `${-half}px 0 0 ${-half}px`;
    // The small ones are above the large ones, which would hide them.
    style.zIndex = String(Math.max(1, 1_000_000 - number));
    element.setAttribute("aria-label", nameOf(feature));
    label.className = "count leaflet-zoom-animated";
    label.style.fontSize = `${Math.min(12.5, (1.75 * half) / (Math.max(text.length, 2) * 0.6)).toFixed(1)}px`;
    if (label.textContent !== text) label.textContent = text;
}

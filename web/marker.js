// SPDX-License-Identifier: MIT
// What a marker looks like: a circle sized by 1 + log n and coloured by step, or a dot.
import { count, counted } from "./numbers.js";

export const isCluster = (feature) => feature.properties?.cluster === true;
/** Whether a point is shown by itself because somebody has chosen it. */
export const isPinned = (feature) => feature.properties?.pinned === true && !isCluster(feature);
export const pointCount = (feature) => (isCluster(feature) ? feature.properties.point_count : 1);

const nameProperties = ["name", "title", "label", "Name", "NAME", "ident"];

/**
 * What a marker is called.
 * @param {object} feature
 * @param {string} [naming] the source's property that names its points, if none has a usual name
 */
export function nameOf(feature, naming) {
    if (isCluster(feature)) return `Cluster of ${counted(feature.properties.point_count, "point")}`;
    for (const property of naming === undefined ? nameProperties : [...nameProperties, naming]) {
        const name = feature.properties?.[property];
        if (typeof name === "string" && name) return name;
    }
    return feature.id === undefined ? "Point" : `Point ${feature.id}`;
}

const dotRadius = 5.5;
const pinnedRadius = 8;
/** In a window a cluster may have one point, whose circle still needs room for a number. */
const circleRadius = (number) => 4 * (1 + Math.log(Math.max(2, number)));

/** A marker's radius in pixels. */
export const radiusOf = (feature) => (isCluster(feature) ? circleRadius(pointCount(feature)) : isPinned(feature) ? pinnedRadius : dotRadius);
export const stepOf = (number) => (number < 100 ? "small" : number < 750 ? "medium" : "large");
export const textOf = (feature) =>
    (isCluster(feature) ? String(feature.properties.point_count_abbreviated ?? count(feature.properties.point_count)) : "");

/**
 * What a marker shows instead of its step's colour.
 * @typedef {{colour?: string, slices?: [string, number][], text?: string}} Paint `slices`: colours with their shares
 */

/** Shares as a ring: CSS's conic gradient. */
export function ring(slices) {
    let at = 0;
    const stops = slices.filter(([, share]) => share > 0).map(([colour, share]) => {
        const start = at;
        at += share;
        return `${colour} ${(100 * start).toFixed(2)}% ${(100 * at).toFixed(2)}%`;
    });
    return `conic-gradient(${stops.join(", ")})`;
}

/** Black or white, whichever is read more easily on a colour as #rrggbb. */
export function inkOn(colour) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
    return 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 ? "#13202c" : "#ffffff";
}

/**
 * Makes a marker's circle and its core, which is above all circles and has the number, show a feature.
 * @param {[HTMLElement, HTMLElement]} parts
 * @param {object} feature
 * @param {Paint} [paint]
 */
export function dress([circle, core], feature, paint = {}) {
    const half = radiusOf(feature);
    // Only what differs is written: a slider does so for all circles in every frame, and each class costs a new style.
    const step = isCluster(feature) ? stepOf(pointCount(feature)) : "point";
    if (circle.step !== step) {
        for (const [part, name] of [[circle, "marker"], [core, "core"]]) {
            if (circle.step) part.classList.replace(circle.step, step);
            else part.className = `${name} leaflet-zoom-animated ${step}`;
        }
        circle.step = step;
    }
    circle.classList.toggle("pinned", isPinned(feature));
    const style = circle.style;
    style.width = style.height = `${2 * half}px`;
    style.margin = `${-half}px 0 0 ${-half}px`;
    // The small ones are above the large ones, which would hide them.
    style.zIndex = String(Math.max(1, 1_000_000 - pointCount(feature)));
    const background = paint.slices ? ring(paint.slices) : paint.colour ?? "";
    style.background = background;
    circle.setAttribute("aria-label", paint.text ? `${nameOf(feature)}, ${paint.text}` : nameOf(feature));
    core.hidden = !isCluster(feature);
    core.classList.toggle("ring", Boolean(paint.slices));
    core.style.background = background;
    core.style.color = paint.colour && !paint.slices ? inkOn(paint.colour) : "";
    const text = textOf(feature);
    let number = core.firstElementChild;
    if (!number) core.append((number = document.createElement("span")));
    if (number.textContent !== text) number.textContent = text;
}

/** The widest font of a text that fits into a circle. */
export const fontThatFits = (text, radius) => Math.min(12.5, (1.75 * radius) / (Math.max(text.length, 2) * 0.6));

/**
 * Gives a marker's core its size, so that it covers no other's.
 * @param {HTMLElement} core
 * @param {{radius: number, isCrowded: boolean, font: number|undefined}} room `font` undefined: the number has no room
 */
export function resize([circle, core], { radius, isCrowded, font }) {
    circle.classList.toggle("crowded", isCrowded);
    core.style.width = core.style.height = `${2 * radius}px`;
    core.style.margin = `${-radius}px 0 0 ${-radius}px`;
    core.style.fontSize = `${(font ?? 9).toFixed(1)}px`;
    core.classList.toggle("quiet", font === undefined);
}

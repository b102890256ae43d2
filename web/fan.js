// SPDX-License-Identifier: MIT
// Points at one position, fanned out around it on legs.
/* global L */
import { dress, nameOf } from "./marker.js";
import { counted } from "./numbers.js";

/** As many as can be distinguished. */
export const mostLeaves = 60;

/** Where the leaves are, in pixels from the middle: on a circle, or on a spiral if they are many. */
export function positions(number) {
    if (number <= 9) {
        const radius = Math.max(32, (number * 26) / (2 * Math.PI));
        return Array.from({ length: number }, (_, index) => {
            const angle = (2 * Math.PI * index) / number - Math.PI / 2;
            return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
        });
    }
    let [angle, radius] = [0, 26];
    return Array.from({ length: number }, () => {
        angle += 24 / radius;
        radius += 24 / (2 * Math.PI) * (24 / radius) + 1.2;
        return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
    });
}

export class Fan {
    constructor(map, onOpen) {
        this.map = map;
        this.onOpen = onOpen;
        this.pane = map.createPane("fan");
        this.pane.style.zIndex = 640;
        this.pane.setAttribute("role", "group");
        map.on("zoomstart viewreset", () => this.close());
        map.on("click", () => this.close());
    }

    get isOpen() {
        return this.pane.childElementCount > 0;
    }

    /** `total`: how many there are, if the features are not all of them. */
    open(latLng, features, total = features.length) {
        this.close();
        const middle = this.map.latLngToLayerPoint(latLng);
        const offsets = positions(features.length);
        const reach = Math.max(...offsets.map(({ x, y }) => Math.hypot(x, y))) + 2;
        const legs = L.SVG.create("svg");
        legs.setAttribute("width", 2 * reach);
        legs.setAttribute("height", 2 * reach);
        legs.setAttribute("aria-hidden", "true");
        legs.style.cssText = `position: absolute; left: ${middle.x - reach}px; top: ${middle.y - reach}px`;
        this.pane.append(legs);
        this.pane.setAttribute("aria-label", `${counted(total, "point")} at one position`);
        features.forEach((feature, index) => {
            const { x, y } = offsets[index];
            const leg = L.SVG.create("line");
            for (const [name, value] of [["x1", reach], ["y1", reach], ["x2", reach + x], ["y2", reach + y]]) leg.setAttribute(name, value);
            leg.setAttribute("class", "fan-leg");
            legs.append(leg);
            const leaf = document.createElement("button");
            leaf.type = "button";
            dress([leaf, document.createElement("span")], feature);
            leaf.classList.remove("leaflet-zoom-animated");
            leaf.classList.add("leaf");
            leaf.title = nameOf(feature);
            leaf.style.transform = `translate3d(${middle.x + x}px, ${middle.y + y}px, 0)`;
            leaf.addEventListener("click", (event) => {
                event.stopPropagation();
                this.onOpen(feature);
            });
            this.pane.append(leaf);
        });
        this.pane.querySelector(".leaf")?.focus({ preventScroll: true });
    }

    close() {
        this.pane.replaceChildren();
    }
}

// SPDX-License-Identifier: MIT
// Says what can be done with a circle: beside the one that the pointer or the keyboard is on, and to a finger once it taps one.
/* global L */
import { isCluster, pointCount, radiusOf } from "./marker.js";
import { make } from "./dom.js";
import { counted } from "./numbers.js";

/** How long the pointer rests on a circle before its hint is shown, in milliseconds. */
const delay = 350;
/** How often a finger that taps circles is told that it can hold them. */
const mostTold = 3;
const key = "clusterd-hold-told";

const ways = { mouse: "Click to zoom in, Shift-click to look inside", keyboard: "Enter to look inside" };

export class Hint {
    /** @param {(message: string) => void} say shows a sentence for a while */
    constructor(map, say) {
        Object.assign(this, { map, say });
        this.card = L.tooltip({ className: "hint", direction: "auto", opacity: 1 });
        map.on("zoomstart", () => this.hide());
    }

    /** Shows a marker's hint; `way` is how it is pointed at: "mouse", "keyboard", or something without a hint. */
    show(marker, way) {
        this.hide();
        if (!marker || !isCluster(marker.feature) || !ways[way]) return;
        this.timer = setTimeout(() => {
            const text = make("span", {}, make("b", {}, counted(pointCount(marker.feature), "point")), make("br"), ways[way]);
            // On the left, Leaflet mirrors it.
            this.card.options.offset = [radiusOf(marker.feature) + 4, 0];
            this.card.setLatLng(marker.latLng).setContent(text).addTo(this.map);
        }, delay);
    }

    hide() {
        clearTimeout(this.timer);
        this.card.remove();
    }

    /** A finger has tapped a circle, which zooms in. */
    tapped() {
        const told = this.told();
        if (told >= mostTold) return;
        this.remember(told + 1);
        this.say("Hold a circle to look inside.");
    }

    /** Somebody has looked inside of a circle with a finger, and need not be told any more. */
    held() {
        this.remember(mostTold);
    }

    told() {
        try {
            return Number(localStorage.getItem(key)) || 0;
        } catch {
            // A browser without storage for this page would tell it each time.
            return this.toldHere ?? 0;
        }
    }

    remember(number) {
        this.toldHere = number;
        try {
            localStorage.setItem(key, String(number));
        } catch {
            // It is remembered until the page is left.
        }
    }
}

// SPDX-License-Identifier: MIT
// Colours markers by a property: which property, its scale, and what each circle shows.
import { Counts } from "./colour/counts.js";
import { showLegend } from "./colour/legend.js";
import { meanOf, scaleOf, sharesOf } from "./colour/scale.js";
import { make } from "./dom.js";
import { isCluster } from "./marker.js";

export class Colouring {
    /**
     * @param {{select: HTMLSelectElement, legend: HTMLElement}} parts
     * @param {object} page zoom(), revision(), isCurrent() whether the markers are of the filter in use, onChoice(property),
     *   onPaint(), isMoving() whether the window moves on, so that what is shown is not counted yet
     */
    constructor({ select, legend }, page) {
        Object.assign(this, { select, legend, page, property: "", scale: undefined, counts: undefined });
        select.addEventListener("change", () => this.page.onChoice(select.value));
        showLegend(legend);
    }

    /** Takes over a source's properties. */
    offer(facts) {
        this.facts = facts;
        const offered = facts.filter((fact) => scaleOf(fact) && (fact.isCategory || fact.kind === "number"));
        const options = [["", "number of points"], ...offered.map(({ name }) => [name, name])];
        this.select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
        this.select.value = this.property;
    }

    /**
     * @param {string} property empty for the number of points
     * @param {import("./api.js").Queries} queries with the filter
     */
    use(property, queries, options) {
        this.counts?.close();
        this.property = property;
        const fact = this.facts?.find(({ name }) => name === property);
        this.scale = fact && scaleOf(fact);
        this.counts = this.scale && new Counts(queries, {
            property, values: fact.values.map(([value]) => value), options, onCount: () => this.paintAgain(),
        });
        this.select.value = this.scale ? property : "";
        this.paintAgain();
    }

    paintAgain() {
        this.counts?.forgetWaiting();
        // Clusters of another filter have other ids; those of this one are painted as they come.
        if (this.page.isCurrent()) {
            this.page.onPaint();
            this.run();
        }
        showLegend(this.legend, this.scale, { hasSamples: this.counts?.hasSamples });
    }

    /** New markers have been painted: counts what they need. */
    run() {
        if (this.page.isMoving()) this.counts?.forgetWaiting();
        else this.counts?.run();
    }

    /** @returns {import("./marker.js").Paint|undefined} */
    paint(feature) {
        const { scale } = this;
        if (!scale) return undefined;
        if (!isCluster(feature)) {
            const entry = scale.entries[scale.entryOf(feature.properties?.[scale.property])];
            return { colour: entry.colour, text: `${scale.property} ${entry.label}` };
        }
        const found = this.counts.of(feature, this.page.zoom(), this.page.revision());
        if (!found) return { colour: "#b4bdc6" };
        if (scale.kind === "steps") {
            const mean = meanOf(found.counts);
            const entry = scale.entries[scale.entryOf(mean)];
            return { colour: entry.colour, text: mean === undefined ? "no number" : `mean ${mean.toLocaleString("en", { maximumSignificantDigits: 4 })}` };
        }
        const shares = sharesOf(scale, found.counts);
        const most = shares.indexOf(Math.max(...shares));
        return {
            slices: shares.map((share, index) => [scale.entries[index].colour, share]),
            text: `${found.isSample ? "about " : ""}${Math.round(100 * shares[most])} % ${scale.entries[most].label}`,
        };
    }
}

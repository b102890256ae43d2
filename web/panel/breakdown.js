// SPDX-License-Identifier: MIT
// How often each value of a property occurs in a cluster, counted from its points.
import { button, make } from "../dom.js";
import { bars } from "../values.js";

const page = 5000;
/** Larger clusters are counted only if somebody asks. */
const mostUnasked = 100_000;
const mostBars = 12;

export class Breakdown {
    /**
     * @param {import("./panel.js").Shown} shown
     * @param {import("../facts.js").PropertyFacts[]} facts
     * @param {import("../colour/scale.js").Scale|undefined} scale of the map's colours
     */
    constructor(shown, facts, scale) {
        this.shown = shown;
        this.scale = scale;
        this.abort = new AbortController();
        this.element = make("section");
        const choices = facts.filter(({ kind }) => kind !== "other");
        if (!choices.length) return;
        const preferred = choices.find(({ name }) => name === scale?.property) ?? choices.find(({ isCategory }) => isCategory) ??
            choices.find(({ kind }) => kind === "number") ?? choices[0];
        this.select = make("select", { "aria-label": "Property" }, ...choices.map(({ name }) => make("option", { value: name }, name)));
        this.select.value = preferred.name;
        this.select.addEventListener("change", () => this.begin());
        this.facts = new Map(choices.map((fact) => [fact.name, fact]));
        this.result = make("div", { "aria-live": "polite" });
        this.element.append(make("h3", {}, "Values of ", this.select), this.result);
        this.begin();
    }

    close() {
        this.abort.abort();
    }

    begin() {
        this.abort.abort();
        this.abort = new AbortController();
        const count = this.shown.feature.properties.point_count;
        if (count <= mostUnasked) return void this.count(this.abort.signal);
        const ask = button(`Count ${count.toLocaleString("en")} points`, () => this.count(this.abort.signal));
        this.result.replaceChildren(ask);
    }

    /** Reads the points page by page. What was counted so far is shown, and says so. */
    async count(signal) {
        const { feature, queries, zoom, revision } = this.shown;
        const { cluster_id: id, point_count: all } = feature.properties;
        const name = this.select.value;
        const counts = new Map();
        const note = make("p", { className: "note" }, "Counting…");
        this.result.replaceChildren(note);
        let read = 0;
        try {
            while (read < all) {
                const { features, total } = await queries.ofCluster(id, zoom, "leaves", { limit: page, offset: read, revision }, signal);
                if (signal.aborted) return;
                for (const { properties } of features) {
                    const value = properties?.[name] ?? null;
                    counts.set(value, (counts.get(value) ?? 0) + 1);
                }
                read += features.length;
                if (!features.length) break;
                this.show(counts, read, total);
            }
        } catch (error) {
            if (signal.aborted) return;
            note.textContent = error.httpStatus === 409 ? "The data have changed since. Open the cluster again." : error.message;
            this.result.replaceChildren(note);
        }
    }

    show(counts, read, total) {
        const fact = this.facts.get(this.select.value);
        const parts = fact.kind === "number" ? [this.numbers(counts)] : [this.frequencies(counts)];
        if (read < total) parts.push(make("p", { className: "note" }, `${read.toLocaleString("en")} of ${total.toLocaleString("en")} points counted so far…`));
        this.result.replaceChildren(...parts);
    }

    frequencies(counts) {
        const order = [...counts].sort((one, other) => other[1] - one[1]);
        const shown = order.slice(0, mostBars);
        const colourOf = (value) => (this.scale?.property === this.select.value ? this.scale.entries[this.scale.entryOf(value)]?.colour : undefined);
        const list = bars(shown, colourOf);
        if (order.length <= mostBars) return list;
        const rest = order.slice(mostBars).reduce((sum, [, number]) => sum + number, 0);
        return make("div", {}, list, make("p", { className: "note" }, `${(order.length - mostBars).toLocaleString("en")} other values have ${rest.toLocaleString("en")} points.`));
    }

    numbers(counts) {
        const known = [...counts].filter(([value]) => typeof value === "number").sort((one, other) => one[0] - other[0]);
        const number = known.reduce((sum, [, times]) => sum + times, 0);
        if (!number) return make("p", { className: "note" }, "No point has a number.");
        const sum = known.reduce((total, [value, times]) => total + value * times, 0);
        const at = (index) => known.find(([, times]) => (index -= times) < 0)[0];
        const median = (at(Math.floor((number - 1) / 2)) + at(Math.ceil((number - 1) / 2))) / 2;
        const list = make("dl");
        const text = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 });
        const rows = [["least", known[0][0]], ["median", median], ["mean", sum / number], ["greatest", known.at(-1)[0]], ["sum", sum], ["points with a number", number]];
        for (const [name, value] of rows) list.append(make("dt", {}, name), make("dd", {}, text(value)));
        return list;
    }
}


// SPDX-License-Identifier: MIT
// Finds points by a text in one of their properties, wherever they are on the map.
import { button, make } from "./dom.js";
import { expressionOf, filterOf } from "./filter/conditions.js";
import { namingProperty } from "./facts.js";
import { nameOf } from "./marker.js";

const mostResults = 20;
/** After how many milliseconds without an answer the page says that it searches. */
const patience = 400;
const mostProperties = 8;
/** The texts of a property that are asked for by name: an address has room for 8 KiB in all. */
const addressBytes = 800;

/** A text without case and accents: as people write names that they do not know well. */
export const plain = (text) => text.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase();

/** A property that contains a text. Of known texts the accents are left aside; the daemon compares them. */
function contains({ name, texts }, text) {
    if (!texts) return expressionOf({ property: name, operator: "contains", value: text });
    let room = addressBytes;
    const found = texts.filter((known) => plain(known).includes(plain(text)) && (room -= encodeURIComponent(known).length + 7) > 0);
    return expressionOf({ property: name, operator: "one of", value: found });
}

/** What is looked for: a text in any property that has texts; false if none has it. */
export function searchFilter(facts, text, filter) {
    const texts = facts.filter(({ kind }) => kind === "text").slice(0, mostProperties);
    if (!texts.length) return undefined;
    const parts = texts.map((fact) => contains(fact, text)).filter(Boolean);
    if (!parts.length) return ["literal", false];
    const found = parts.length > 1 ? ["any", ...parts] : parts[0];
    return filter === undefined ? found : ["all", filter, found];
}

/** Names that begin with the text first, then names that have it, then the others. */
export function ranked(features, text, naming) {
    const wanted = plain(text);
    const rank = (feature) => {
        const name = plain(String(feature.properties?.[naming] ?? nameOf(feature)));
        return name === wanted ? 0 : name.startsWith(wanted) ? 1 : name.includes(wanted) ? 2 : 3;
    };
    return features.toSorted((one, other) => rank(one) - rank(other));
}

export class Search {
    /**
     * @param {{input: HTMLInputElement, results: HTMLElement}} parts
     * @param {object} page facts(), points(filter, limit) of the source, filter(), onOpen(feature)
     */
    constructor({ input, results }, page) {
        Object.assign(this, { input, results, page });
        input.addEventListener("input", () => this.searchSoon());
        input.addEventListener("keydown", (event) => this.key(event));
        input.addEventListener("focus", () => (results.hidden = !results.childElementCount));
        results.addEventListener("keydown", (event) => this.key(event));
        document.addEventListener("pointerdown", (event) => {
            if (!event.target.closest(".search")) this.hide();
        });
    }

    hide() {
        this.results.hidden = true;
        this.input.setAttribute("aria-expanded", "false");
    }

    clear() {
        this.input.value = "";
        this.results.replaceChildren();
        this.hide();
    }

    searchSoon() {
        this.opensFirst = false;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.search(), 300);
    }

    async search() {
        const text = this.input.value.trim();
        const call = (this.call = {});
        this.asked = text;
        if (!text) return this.clear();
        const facts = this.page.facts();
        const filter = searchFilter(facts, text, this.page.filter());
        if (!filter) return this.show([make("li", { className: "note" }, "The source has no texts to look in.")]);
        this.isAsking = true;
        setTimeout(() => {
            if (call === this.call && this.isAsking) this.show([make("li", { className: "note" }, "Searching…")]);
        }, patience);
        try {
            const { features, truncated } = await this.page.points(JSON.stringify(filter), 200);
            if (call !== this.call) return;
            this.isAsking = false;
            const naming = namingProperty(facts)?.name;
            const order = ranked(features, text, naming);
            const items = order.slice(0, mostResults).map((feature) => make("li", {}, this.item(feature, text, naming)));
            if (!items.length) items.push(make("li", { className: "note" }, `Nothing contains “${text}”.`));
            if (truncated || order.length > mostResults) items.push(make("li", { className: "note" }, "More were found: write more of the name."));
            this.show(items);
            if (this.opensFirst) items[0].querySelector("button")?.click();
            this.opensFirst = false;
        } catch (error) {
            if (call !== this.call) return;
            this.isAsking = false;
            this.show([make("li", { className: "note" }, error.message)]);
        }
    }

    show(items) {
        this.results.replaceChildren(...items);
        this.results.hidden = false;
        this.input.setAttribute("aria-expanded", "true");
    }

    item(feature, text, naming) {
        const name = String(feature.properties?.[naming] ?? nameOf(feature));
        const wanted = plain(text);
        const other = Object.entries(feature.properties ?? {}).find(([property, value]) => property !== naming && typeof value === "string" && plain(value).includes(wanted)) ??
            Object.entries(feature.properties ?? {}).find(([property, value]) => property !== naming && ["string", "number"].includes(typeof value));
        const found = button("", () => {
            this.hide();
            this.page.onOpen(feature);
        });
        found.append(make("b", {}, name), make("small", {}, other ? `${other[0]} ${other[1]}` : ""));
        return found;
    }

    key(event) {
        const items = [...this.results.querySelectorAll("button")];
        const at = items.indexOf(document.activeElement);
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            const next = at + (event.key === "ArrowDown" ? 1 : -1);
            (next < 0 ? this.input : items[Math.min(next, items.length - 1)])?.focus();
        } else if (event.key === "Enter" && event.target === this.input) {
            event.preventDefault();
            clearTimeout(this.timer);
            const isAsked = this.input.value.trim() === this.asked;
            if (isAsked && items.length && !this.results.hidden) return items[0].click();
            this.opensFirst = true;
            if (!isAsked || !this.isAsking) this.search();
        } else if (event.key === "Escape") {
            event.stopPropagation();
            this.hide();
            this.input.focus();
        }
    }
}

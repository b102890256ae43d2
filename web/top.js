// SPDX-License-Identifier: MIT
// The list of the points in view with the greatest or least values of an indexed property.
import { button, make } from "./dom.js";
import { nameOf } from "./marker.js";
import { Paced } from "./paced.js";
import { grouped } from "./values.js";

const most = 20;

export class TopList {
    /**
     * @param {HTMLElement} box
     * @param {object} page read(by, limit) gives the features, naming() the property that names points, onOpen(feature),
     *   onPoint(feature or undefined) while the pointer or the keyboard is on one, onClose(), onChoice()
     */
    constructor(box, page) {
        Object.assign(this, { box, page, offered: [] });
        this.property = make("select", { "aria-label": "Order by" });
        this.property.addEventListener("change", () => this.choose());
        this.order = button("", () => {
            this.isAscending = !this.isAscending;
            this.choose();
        });
        this.showOrder();
        this.list = make("ol", { className: "top-list" });
        this.note = make("p", { className: "note", role: "status" });
        const close = button("×", () => this.close(), { className: "close", "aria-label": "Close the list" });
        box.append(make("h2", { tabIndex: -1 }, "Top in view"), close, make("div", { className: "row" }, this.property, this.order), this.list, this.note);
        this.reading = new Paced(() => this.read());
    }

    get isOpen() {
        return !this.box.hidden;
    }

    /** As the daemon takes it: the least first if there is a "-" before the name. */
    get by() {
        return this.isOpen && this.property.value ? `${this.isAscending ? "-" : ""}${this.property.value}` : "";
    }

    offer(indexed) {
        if (JSON.stringify(indexed) === JSON.stringify(this.offered)) return;
        this.offered = indexed;
        this.property.replaceChildren(...indexed.map(({ name }) => make("option", { value: name }, name)));
        if (!indexed.length) this.box.hidden = true;
    }

    /** @param {string} by of a property that is not indexed the first one is taken */
    open(by = "") {
        this.isAscending = by.startsWith("-");
        const name = by.replace(/^-/, "");
        if (this.offered.some((each) => each.name === name)) this.property.value = name;
        this.box.hidden = false;
        this.list.replaceChildren();
        this.choose();
    }

    showOrder() {
        this.order.textContent = this.isAscending ? "least ↑" : "greatest ↓";
        this.order.title = "Change the order";
    }

    choose() {
        this.showOrder();
        this.page.onChoice();
        this.reading.ask();
    }

    close() {
        this.box.hidden = true;
        this.page.onPoint(undefined);
        this.page.onClose();
    }

    /** What is in view has changed. */
    refresh() {
        if (this.isOpen) this.reading.ask();
    }

    async read() {
        const { by } = this;
        if (!by) return;
        let features = [];
        let text = "";
        try {
            features = (await this.page.read(by, most)).features;
            if (!features.length) text = "No point in view has a value.";
        } catch (error) {
            text = error.message;
        }
        if (by !== this.by) return;
        this.note.textContent = text;
        const focused = [...this.list.children].findIndex((item) => item.contains(document.activeElement));
        this.list.replaceChildren(...features.map((feature) => this.item(feature)));
        // The keyboard stays at its place in the list.
        if (focused >= 0) this.list.children[Math.min(focused, features.length - 1)]?.firstElementChild.focus({ preventScroll: true });
    }

    item(feature) {
        const { member, isTime } = this.offered.find(({ name }) => name === this.property.value) ?? {};
        const value = feature.properties?.[member];
        const open = button("", () => this.page.onOpen(feature));
        open.append(make("b", {}, nameOf(feature, this.page.naming())));
        if (value !== undefined && value !== null) {
            open.append(make("small", {}, typeof value === "number" && !isTime ? grouped.format(value) : String(value).replace(/T00:00:00(\.0+)?Z$/, "")));
        }
        for (const type of ["pointerenter", "focus"]) open.addEventListener(type, () => this.page.onPoint(feature));
        for (const type of ["pointerleave", "blur"]) open.addEventListener(type, () => this.page.onPoint(undefined));
        return make("li", {}, open);
    }
}

// SPDX-License-Identifier: MIT
// The table of the points in view: sorted by any column, and saved as a file.
import { button, download, make } from "../dom.js";
import { counted } from "../numbers.js";
import { grouped } from "../values.js";
import { cellText, columnsOf, comparison, csvOf, geoJSONOf } from "./text.js";

/** As many points are read at most. */
export const mostRows = 20_000;
/** Rows are made as they are scrolled to. */
const rowsAtOnce = 100;

export class Table {
    /**
     * @param {HTMLElement} box
     * @param {object} page read() gives the points in view with `truncated`, inView() their number, name() of the source, names() of its properties,
     *   onOpen(feature), onClose(), say(text) shows a text for a while
     */
    constructor(box, page) {
        this.box = box;
        this.page = page;
        this.features = [];
        this.order = undefined;
        this.title = make("h2", { tabIndex: -1 }, "Points in view");
        this.note = make("p", { className: "note", role: "status" });
        const save = (form, make) => button(form, () => {
            make();
            if (this.isPart) this.page.say(`The file has ${counted(this.features.length, "point")} of those in view: zoom in or filter for the others.`);
        }, { title: `Save the points in view as ${form}` });
        this.tools = make("div", { className: "table-tools" }, this.title, this.note,
            save("CSV", () => download(`${page.name()}.csv`, "text/csv", csvOf(this.columns, this.features))),
            save("GeoJSON", () => download(`${page.name()}.geojson`, "application/geo+json", geoJSONOf(this.features))),
            button("×", () => this.close(), { className: "close", "aria-label": "Close the table" }));
        this.body = make("tbody");
        this.head = make("thead");
        this.scroller = make("div", { className: "table-scroller", tabIndex: 0, role: "region", "aria-label": "Points in view" },
            make("table", {}, this.head, this.body));
        this.scroller.addEventListener("scroll", () => this.showMore());
        box.append(this.tools, this.scroller);
    }

    get isOpen() {
        return !this.box.hidden;
    }

    open() {
        this.box.hidden = false;
        this.refresh();
        this.title.focus({ preventScroll: true });
    }

    close() {
        this.box.hidden = true;
        this.features = [];
        this.body.replaceChildren();
        this.page.onClose();
    }

    /** Reads what is in view, unless the view moves on. */
    refreshSoon() {
        if (!this.isOpen) return;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.refresh(), 250);
    }

    async refresh() {
        const call = (this.call = {});
        let answer;
        try {
            answer = await this.page.read(mostRows);
        } catch (error) {
            if (call === this.call) this.note.textContent = error.message;
            return;
        }
        if (call !== this.call || !this.isOpen) return;
        this.features = answer.features;
        this.isPart = answer.truncated;
        this.columns = columnsOf(this.features, this.page.names());
        const read = `${counted(this.features.length, "point")}`;
        this.note.textContent = this.isPart ? `${read} of ${this.page.inView().toLocaleString("en")}: zoom in or filter for the others` : read;
        this.sort();
    }

    sort() {
        const column = this.columns.find(({ name }) => name === this.order?.name);
        if (column) this.features.sort(comparison(column.read, this.order.isDescending));
        this.head.replaceChildren(make("tr", {}, ...this.columns.map((each) => {
            const isOrder = each === column;
            const direction = !isOrder ? "none" : this.order.isDescending ? "descending" : "ascending";
            const arrow = !isOrder ? "" : this.order.isDescending ? " ↓" : " ↑";
            const className = this.features.some((feature) => typeof each.read(feature) === "number") ? "number" : "";
            return make("th", { scope: "col", "aria-sort": direction, className }, button(each.name + arrow, () => this.sortBy(each.name), { title: "Sort by this column" }));
        })));
        this.body.replaceChildren();
        this.scroller.scrollTop = 0;
        this.showMore();
    }

    /** Numbers begin with the greatest, texts with the first. */
    sortBy(name) {
        const { read } = this.columns.find((column) => column.name === name);
        const isNumber = this.features.some((feature) => typeof read(feature) === "number");
        const isDescending = this.order?.name === name ? !this.order.isDescending : isNumber;
        this.order = { name, isDescending };
        this.sort();
        const place = this.columns.findIndex((column) => column.name === name);
        this.head.querySelectorAll("button")[place].focus();
    }

    showMore() {
        const isNear = this.scroller.scrollTop + this.scroller.clientHeight > this.scroller.scrollHeight - 400;
        const shown = this.body.childElementCount;
        if (!isNear || shown >= this.features.length) return;
        this.body.append(...this.features.slice(shown, shown + rowsAtOnce).map((feature) => this.row(feature)));
    }

    row(feature) {
        const cells = this.columns.map(({ read, isId }, index) => {
            const value = read(feature);
            const isNumber = typeof value === "number";
            const text = isNumber && !isId ? grouped.format(value) : cellText(value).slice(0, 300);
            const content = index === 0 ? button(text || "–", () => this.page.onOpen(feature), { className: "open", title: "Show it on the map" }) : text;
            return make("td", { className: isNumber ? "number" : "" }, content);
        });
        return make("tr", {}, ...cells);
    }
}

// SPDX-License-Identifier: MIT
// The filter of the map page: its button, its form, and what is said about it.
import * as api from "../api.js";
import { element } from "../dom.js";
import { FilterForm } from "../filter/form.js";
import { viewport } from "../projection.js";
import { map, smallScreen } from "./map.js";
import { page, queried } from "./state.js";

export class FilterControl {
    /** @param {() => void} onApply the page's filter is another one */
    constructor(onApply) {
        this.onApply = onApply;
        this.box = element("filter-form");
        this.opener = element("filter-open");
        /** Whether the line below the filter says why nothing is shown. */
        this.hasAdvice = false;
        this.form = new FilterForm({
            form: this.box, rows: element("conditions"), add: element("condition-add"), mode: element("filter-mode"),
            expression: element("filter"), chips: element("filter-chips"), error: (message) => this.showError(message),
        }, (filter) => this.apply(filter));
        this.opener.addEventListener("click", () => this.show(!this.isOpen));
        element("filter-clear").addEventListener("click", () => this.apply(""));
    }

    get isOpen() {
        return !this.box.hidden;
    }

    show(isOpen) {
        this.box.hidden = !isOpen;
        this.opener.setAttribute("aria-expanded", String(isOpen));
        if (isOpen) this.box.querySelector("select, #filter")?.focus();
        if (isOpen && this.form.mode.checked) element("filter").select();
    }

    close() {
        this.show(false);
        this.opener.focus();
    }

    showError(message) {
        // The page has no other params, and calls this one a filter.
        this.write(message.replace(/^params\.filter(: | |(?=\[))/, ""));
        element("filter").setAttribute("aria-invalid", message ? "true" : "false");
    }

    /** Shows why a valid filter leaves nothing. */
    showAdvice(warnings) {
        this.write(warnings.join("; "));
        this.hasAdvice = warnings.length > 0;
    }

    write(text) {
        const line = element("filter-error");
        line.textContent = text;
        line.hidden = !text;
        this.hasAdvice = false;
    }

    /** Asks with the filter that the address had whether anything passes. What is wrong with it is said elsewhere. */
    async advise() {
        const { queries } = page;
        const { bbox, zoom } = viewport(map);
        const { warnings = [] } = await queries.clusters(bbox, zoom, 1).catch(() => ({}));
        if (queries === page.queries && warnings.length) this.showAdvice(warnings);
    }

    /** Asks with the new filter first: if it is wrong, the map stays as it is. Returns whether it was accepted. */
    async apply(filter) {
        const { bbox, zoom } = viewport(map);
        let answer;
        try {
            if (filter) JSON.parse(filter);
            answer = await new api.Queries(queried(), filter).clusters(bbox, zoom, 1);
        } catch (error) {
            const advice = `. A filter is an expression, such as ${element("filter").placeholder}`;
            this.showError(error instanceof SyntaxError ? error.message + advice : error.message);
            return false;
        }
        this.showError("");
        this.showAdvice(answer.warnings ?? []);
        page.filter = filter;
        this.form.set(filter);
        // What is applied stands above the map; the form would hide half of it.
        if (smallScreen.matches) this.close();
        this.onApply();
        return true;
    }
}

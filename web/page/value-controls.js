// SPDX-License-Identifier: MIT
// What indexed properties give the map page: the slider, the top list; and the density below the markers.
import * as api from "../api.js";
import { showDensityLegend } from "../colour/legend.js";
import { DensityLayer } from "../density/layer.js";
import { labelsOf } from "../density/steps.js";
import { element } from "../dom.js";
import { titleProperty } from "../facts.js";
import { indexedOf } from "../indexed.js";
import { planeOf, viewport } from "../projection.js";
import { Slider } from "../slider/slider.js";
import * as theme from "../theme.js";
import { TopList } from "../top.js";
import { map } from "./map.js";
import { toast } from "./notices.js";
import { description, page, queried } from "./state.js";

export class ValueControls {
    /**
     * @param {object} handlers onChoice() when the address has to say something else, onRest() when the slider rests, onOpen(feature)
     *   and onPoint(feature or undefined) of the top list
     */
    constructor({ onChoice, onRest, onOpen, onPoint }) {
        this.slider = new Slider(element("slider"), {
            // The axis is the same for all filters and views of the map; the bars are of what is in view.
            histogram: (property, { bins, edges }) => (edges
                ? page.queries.histogram(property, { bbox: viewport(map).bbox, edges })
                : new api.Queries(queried(), "").histogram(property, { bins })),
            onWindow: (window) => {
                page.window = page.queries.window = window;
                page.watch?.restrict();
                this.top.refresh();
                this.refreshDensity();
            },
            onRest,
            onClose: () => element("slider-open").setAttribute("aria-expanded", "false"),
        });
        this.top = new TopList(element("top"), {
            read: (by, limit) => page.queries.top(viewport(map).bbox, by, limit),
            naming: () => titleProperty(page.facts),
            onOpen,
            onPoint,
            onChoice,
            onClose: () => {
                element("top-open").setAttribute("aria-expanded", "false");
                onChoice();
            },
        });
        this.density = new DensityLayer({
            read: (bbox, resolution) => page.queries.grid(bbox, resolution),
            isDark: theme.isDark,
            onSteps: (steps, shades, most) => showDensityLegend(element("density-legend"), labelsOf(steps, most), shades),
            onError: toast,
        });
        // Below the markers, above the ground.
        map.createPane("density").classList.add("density-pane");
        element("slider-open").addEventListener("click", () => {
            if (this.slider.isOpen) this.slider.close();
            else this.openSlider({ property: this.slider.name }).then(() => this.slider.handles[0].focus());
        });
        element("top-open").addEventListener("click", () => (this.top.isOpen ? this.top.close() : this.openTop()));
        element("density").addEventListener("click", () => {
            this.showDensity(!this.isDense);
            onChoice();
        });
    }

    get isDense() {
        return map.hasLayer(this.density);
    }

    /** Whether the source has an indexed property of this name. */
    offers(name) {
        return this.slider.offered.some((property) => property.name === name);
    }

    /** Offers what the source has: its indexed properties and its views. */
    offer() {
        const indexed = indexedOf(description()?.options);
        this.slider.offer(indexed);
        this.top.offer(indexed);
        for (const id of ["slider-open", "top-open"]) element(id).hidden = !indexed.length;
        element("density").hidden = !description() || Boolean(planeOf(description()));
        const views = Object.keys(description()?.options?.views ?? {});
        const select = element("variant");
        select.replaceChildren(new Option("all", ""), ...views.map((name) => new Option(name, name)));
        select.value = page.variant;
        select.closest("label").hidden = !views.length;
    }

    /** Opens and closes what the address says. */
    show(top, isDense) {
        if (page.window) this.openSlider(page.window);
        else if (this.slider.isOpen) this.slider.close();
        if (top && this.top.offered.length) this.openTop(top);
        else if (this.top.isOpen) this.top.close();
        this.showDensity(isDense && !element("density").hidden);
    }

    /** What is in view has changed. */
    refresh() {
        this.slider.refresh();
        this.top.refresh();
        this.refreshDensity();
    }

    refreshDensity() {
        if (this.isDense) this.density.refresh();
    }

    /** Draws the density in the colours of another theme. */
    redraw() {
        if (this.isDense) this.density.draw();
    }

    openSlider(window) {
        element("slider-open").setAttribute("aria-expanded", "true");
        return this.slider.use(window);
    }

    openTop(by) {
        element("top-open").setAttribute("aria-expanded", "true");
        this.top.open(by);
    }

    showDensity(isShown) {
        element("density").setAttribute("aria-pressed", String(isShown));
        document.documentElement.classList.toggle("dense", isShown);
        if (isShown) this.density.addTo(map);
        else this.density.remove();
        element("density-legend").hidden = true;
    }
}

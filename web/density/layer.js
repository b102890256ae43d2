// SPDX-License-Identifier: MIT
// How dense the points are: squares of the Web Mercator tiles, coloured by how many points each has.
/* global L */
import { Paced } from "../paced.js";
import { viewport } from "../projection.js";
import { resolutionOf, shadesOf, stepOf, stepsOf } from "./steps.js";

export const DensityLayer = L.Layer.extend({
    /** @param {object} page read(bbox, resolution) gives the cells, isDark(), onSteps(steps, shades, most) for the legend, onError(message) */
    initialize(page) {
        this.page = page;
        this.reading = new Paced(() => this.read());
    },

    onAdd(map) {
        this.canvas = L.DomUtil.create("canvas", "density leaflet-zoom-hide", map.getPane("density") ?? map.createPane("density"));
        this.canvas.ariaHidden = "true";
        this.refresh();
    },

    onRemove() {
        this.canvas.remove();
        this.answer = undefined;
    },

    getEvents() {
        return { move: this.refresh, moveend: this.refresh, viewreset: this.draw, zoomend: this.draw, resize: this.refresh };
    },

    /** What is in view has changed. */
    refresh() {
        if (this._map) this.reading.ask();
    },

    async read() {
        if (!this._map) return;
        const { bbox, zoom } = viewport(this._map);
        try {
            this.answer = await this.page.read(bbox, resolutionOf(zoom));
        } catch (error) {
            this.answer = undefined;
            this.page.onError(error.message);
        }
        if (this._map) this.draw();
    },

    draw() {
        const { _map: map, canvas } = this;
        const size = map.getSize();
        const ratio = Math.min(window.devicePixelRatio || 1, 3);
        Object.assign(canvas, { width: size.x * ratio, height: size.y * ratio });
        canvas.style.cssText = `width: ${size.x}px; height: ${size.y}px`;
        L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]));
        const { cells = [], resolution } = this.answer ?? {};
        const most = cells.reduce((greatest, { point_count: number }) => Math.max(greatest, number), 0);
        const steps = most ? stepsOf(most) : [];
        const shades = shadesOf(steps, this.page.isDark());
        this.page.onSteps(steps, shades, most);
        const context = canvas.getContext("2d");
        context.scale(ratio, ratio);
        const corner = map.getPixelBounds().min;
        const world = map.project([0, 180]).x - map.project([0, -180]).x;
        const side = world / 2 ** resolution;
        const centre = map.project(map.getCenter()).x;
        const edge = (number) => Math.round(number * ratio) / ratio;
        for (const { x, y, point_count: number } of cells) {
            // In the copy of the world that is nearest to the middle.
            const left = x * side - Math.round(((x + 0.5) * side - centre) / world) * world - corner.x;
            const top = y * side - corner.y;
            context.fillStyle = shades[stepOf(steps, number)];
            context.fillRect(edge(left), edge(top), edge(left + side) - edge(left), edge(top + side) - edge(top));
        }
    },
});

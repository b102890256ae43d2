// SPDX-License-Identifier: MIT
// The panel beside the map: a point's properties, or what is in a cluster.
import { button, make } from "../dom.js";
import { clusterMembers, titleProperty } from "../facts.js";
import { isCluster, isPinned, nameOf } from "../marker.js";
import { count } from "../numbers.js";
import { positionText } from "../projection.js";
import { valueElement } from "../values.js";
import { areaText } from "./area.js";
import { Breakdown } from "./breakdown.js";
import { LeafList } from "./leaf-list.js";

/**
 * What is shown: the feature, and how it was found.
 * @typedef {{feature: object, key?: string, zoom: number, revision?: number, queries?: import("../api.js").Queries}} Shown
 *   without `queries`, on a page without a daemon, a cluster's panel has what the cluster itself says
 */

export class Panel {
    /**
     * @param {HTMLElement} panel
     * @param {object} page onZoom(shown), onShow(feature), onGoTo(feature), facts() of the source, isPlane(), colouring(),
     *   pinning(feature) gives the button that keeps a point on the map, if there is one
     */
    constructor(panel, page) {
        this.panel = panel;
        this.page = page;
        this.shown = undefined;
        this.before = [];
    }

    get isOpen() {
        return !this.panel.hidden;
    }

    /** @param {Shown} shown */
    show(shown, { keepsFocus = false } = {}) {
        if (!this.isOpen) this.returnTo = document.activeElement;
        this.before = [];
        this.fill(shown);
        if (!keepsFocus) this.panel.querySelector("h2").focus({ preventScroll: true });
    }

    /** Shows a point of the cluster that is shown; the way back leads to that. */
    showPoint(feature) {
        this.before.push({ shown: this.shown, nodes: [...this.panel.childNodes], top: this.panel.scrollTop });
        this.fill({ ...this.shown, feature, key: undefined });
        this.panel.querySelector("h2").focus({ preventScroll: true });
        this.page.onShow(feature);
    }

    back() {
        const { shown, nodes, top } = this.before.pop();
        this.shown = shown;
        this.panel.replaceChildren(...nodes);
        this.panel.scrollTop = top;
    }

    fill(shown) {
        this.stop();
        this.shown = shown;
        const { feature } = shown;
        const title = make("h2", { tabIndex: -1 }, nameOf(feature, titleProperty(this.page.facts())));
        const close = button("×", () => this.close(), { className: "close", "aria-label": "Close" });
        const head = [title, close];
        if (this.before.length) head.unshift(button("← Back to the cluster", () => this.back(), { className: "back" }));
        // The head stays in sight above a list that is scrolled.
        const header = make("div", { className: "panel-head" }, ...head);
        this.panel.replaceChildren(header, ...(isCluster(feature) ? this.cluster(shown) : this.point(shown)));
        this.panel.hidden = false;
        this.panel.scrollTop = 0;
    }

    point({ feature, queries }) {
        const list = make("dl");
        if (feature.id !== undefined) add(list, "id", String(feature.id));
        add(list, "position", positionText(feature.geometry.coordinates));
        for (const [name, value] of Object.entries(feature.properties ?? {})) {
            if (name !== "pinned" || !isPinned(feature)) add(list, name, value);
        }
        if (!queries) return [list];
        const zoomTo = button("Zoom to it", () => this.page.onGoTo(feature));
        return [make("div", { className: "row" }, zoomTo, this.page.pinning?.(feature)), list];
    }

    cluster(shown) {
        const { feature, queries, zoom, revision } = shown;
        const { properties } = feature;
        const list = make("dl");
        const all = properties.total_count;
        add(list, "points", count(properties.point_count) + (all > properties.point_count ? ` of ${count(all)}` : ""));
        if (properties.point_weight !== undefined) add(list, "weight", properties.point_weight);
        if (properties.partition !== undefined) add(list, "partition", properties.partition);
        add(list, "centre", positionText(feature.geometry.coordinates));
        const area = queries && add(list, "area", "…");
        queries?.ofCluster(properties.cluster_id, zoom, "hull", { revision })
            .then((hull) => (area.textContent = areaText(hull, this.page.isPlane())), () => (area.textContent = "–"));
        const parts = [list];
        const aggregates = Object.entries(properties).filter(([name]) => !clusterMembers.has(name));
        if (aggregates.length) {
            const values = make("dl");
            for (const [name, value] of aggregates) add(values, name, value);
            parts.push(make("h3", {}, "Aggregated properties"), values);
        }
        const zoomIn = button("Zoom to its points", () => this.page.onZoom(shown), { className: "wide" });
        if (!queries) return [...parts, zoomIn];
        this.breakdown = new Breakdown(shown, this.page.facts(), this.page.colouring());
        this.leaves = new LeafList(shown, titleProperty(this.page.facts()), (point) => this.showPoint(point));
        return [...parts, zoomIn, this.breakdown.element, make("h3", {}, `Points`), this.leaves.element];
    }

    /** Stops what a cluster's panel still reads. */
    stop() {
        if (this.before.length) return;
        this.breakdown?.close();
        this.leaves?.close();
    }

    close() {
        if (!this.isOpen) return;
        const hadFocus = this.panel.contains(document.activeElement);
        this.before = [];
        this.stop();
        this.shown = undefined;
        this.panel.hidden = true;
        this.panel.replaceChildren();
        if (hadFocus) this.returnTo?.focus?.({ preventScroll: true });
    }
}

function add(list, name, value) {
    const description = make("dd", {}, valueElement(value));
    list.append(make("dt", {}, name), description);
    return description;
}


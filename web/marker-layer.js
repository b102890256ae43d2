// SPDX-License-Identifier: MIT
// The markers of a view, kept by their keys, so that each moves from where it was to where it is.
/* global L */
import { dress, isCluster, pointCount } from "./marker.js";
import { currentPoint, glide, place } from "./motion.js";
import { latLng } from "./projection.js";

export const MarkerLayer = L.Layer.extend({
    /** `handlers`: onOpen(marker), onHover(marker or undefined), onLeave() when the keyboard leaves the markers. */
    initialize(handlers) {
        this.handlers = handlers;
        this.markers = new Map();
        this.waiting = [];
        this.isZooming = false;
    },

    onAdd(map) {
        this.pane = map.createPane("markers");
        this.pane.classList.add("marker-pane");
        this.pane.setAttribute("role", "group");
        this.pane.setAttribute("aria-label", "Markers");
        for (const type of ["click", "keydown", "pointerover", "pointerout", "focusin", "focusout"]) {
            this.pane.addEventListener(type, (event) => this[`on_${type}`](event));
        }
        // Counts are above all circles, so that none covers another's; the circles' names say them to screen readers.
        this.labels = map.createPane("counts");
        this.labels.classList.add("count-pane");
        this.labels.setAttribute("aria-hidden", "true");
        L.DomEvent.on(this.pane, "dblclick", L.DomEvent.stopPropagation);
    },

    getEvents() {
        return {
            zoomanim: this.followZoom, zoom: this.placeAll, viewreset: this.placeAll, zoomend: this.endZoom,
            moveend: this.wrapAll,
        };
    },

    // MARK: Changes

    /** Everything that comes next replaces what is shown. */
    reset() {
        this.isReset = true;
        this.waiting = [];
    },

    /** Applies a change: deletes `remove`, then inserts `update` and `add`, by key. */
    apply(item) {
        if (this.isZooming) return void this.waiting.push(item);
        const incoming = new Map();
        for (const feature of item.add) incoming.set(feature.key, feature);
        for (const feature of item.update ?? []) incoming.set(feature.key, feature);
        const starts = new Map();
        for (const feature of item.add) {
            const from = this.markers.get(feature.from);
            if (from) starts.set(feature.key, currentPoint(from));
        }
        for (const [key, into] of this.removals(item, incoming)) this.remove(key, incoming.get(into), into);
        for (const [key, feature] of incoming) this.insert(key, feature, starts.get(key));
        this.keepOneTabStop();
    },

    /** The keys to remove, each with the key of what has absorbed it. */
    removals(item, incoming) {
        const removals = item.remove.map((entry) => (typeof entry === "string" ? [entry] : [entry.key, entry.into]));
        if (this.isReset) {
            for (const key of this.markers.keys()) removals.push([key]);
            this.isReset = false;
        }
        return removals.filter(([key]) => !incoming.has(key));
    },

    insert(key, feature, start) {
        let marker = this.markers.get(key);
        const position = latLng(this._map, feature.geometry.coordinates);
        const point = this._map.latLngToLayerPoint(position);
        if (marker) {
            Object.assign(marker, { feature, latLng: position });
            dress(marker.parts, feature);
            glide(marker, point);
            return;
        }
        const element = document.createElement("button");
        element.type = "button";
        element.tabIndex = -1;
        const label = document.createElement("span");
        marker = { key, feature, latLng: position, element, parts: [element, label] };
        element.marker = marker;
        dress(marker.parts, feature);
        this.markers.set(key, marker);
        this.pane.append(element);
        this.labels.append(label);
        glide(marker, point, { from: start ?? point, fade: start ? undefined : "in" });
    },

    remove(key, absorbing, into) {
        const marker = this.markers.get(key);
        if (!marker) return;
        this.markers.delete(key);
        const target = absorbing ?? this.markers.get(into)?.feature;
        const point = target
            ? this._map.latLngToLayerPoint(latLng(this._map, target.geometry.coordinates)) : marker.point;
        marker.element.classList.add("leaving");
        marker.element.tabIndex = -1;
        if (marker.element.contains(document.activeElement)) this.focusInstead(into);
        glide(marker, point, { fade: "out" }).then(() => marker.parts.forEach((part) => part.remove()));
    },

    focusInstead(key) {
        const next = this.markers.get(key);
        if (next) next.element.focus({ preventScroll: true });
        else this.handlers.onLeave();
    },

    countShown() {
        const counts = { clusters: 0, points: 0, all: 0 };
        for (const { feature } of this.markers.values()) {
            counts[isCluster(feature) ? "clusters" : "points"] += 1;
            counts.all += pointCount(feature);
        }
        return counts;
    },

    /** The names of the shown points' properties. */
    propertyNames() {
        const names = new Set();
        for (const { feature } of this.markers.values()) {
            if (!isCluster(feature)) for (const name of Object.keys(feature.properties ?? {})) names.add(name);
        }
        return [...names];
    },

    /** The markers of single points at the same spot of the screen. */
    pointsAt(marker) {
        const near = ({ point }) => Math.hypot(point.x - marker.point.x, point.y - marker.point.y) < 3;
        return [...this.markers.values()].filter((other) => !isCluster(other.feature) && near(other));
    },

    // MARK: The map's movements

    followZoom({ center, zoom }) {
        this.isZooming = true;
        for (const marker of this.markers.values()) {
            place(marker, this._map._latLngToNewLayerPoint(marker.latLng, zoom, center));
        }
    },

    endZoom() {
        this.isZooming = false;
        this.placeAll();
        const waiting = this.waiting;
        this.waiting = [];
        for (const item of waiting) this.apply(item);
    },

    placeAll() {
        for (const marker of this.markers.values()) place(marker, this._map.latLngToLayerPoint(marker.latLng));
    },

    /** Shows each marker in the copy of the world that is in the middle. */
    wrapAll() {
        if (this.isZooming) return;
        for (const marker of this.markers.values()) {
            const position = latLng(this._map, marker.feature.geometry.coordinates);
            if (position.lng === marker.latLng.lng) continue;
            marker.latLng = position;
            place(marker, this._map.latLngToLayerPoint(position));
        }
    },

    // MARK: Pointer and keyboard

    on_click(event) {
        const marker = event.target.marker;
        if (!marker) return;
        event.stopPropagation();
        this.handlers.onOpen(marker);
    },

    on_pointerover(event) {
        if (event.target.marker) this.handlers.onHover(event.target.marker);
    },

    on_pointerout() {
        this.handlers.onHover(undefined);
    },

    on_focusin(event) {
        if (!event.target.marker) return;
        for (const { element } of this.markers.values()) element.tabIndex = -1;
        event.target.tabIndex = 0;
        if (event.target.matches(":focus-visible")) this.handlers.onHover(event.target.marker);
    },

    on_focusout() {
        this.handlers.onHover(undefined);
    },

    on_keydown(event) {
        const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
        const direction = directions[event.key];
        if (direction && event.target.marker) {
            event.preventDefault();
            event.stopPropagation();
            this.nearest(event.target.marker, direction)?.element.focus({ preventScroll: true });
        }
    },

    /** The marker that is nearest in a direction; distance across it counts double. */
    nearest(marker, [right, down]) {
        let best;
        let least = Infinity;
        for (const other of this.markers.values()) {
            const x = other.point.x - marker.point.x;
            const y = other.point.y - marker.point.y;
            const along = x * right + y * down;
            const across = Math.abs(x * down) + Math.abs(y * right);
            if (other === marker || along < 1 || across > 2 * along + 20) continue;
            const cost = along + 2 * across;
            if (cost < least) [best, least] = [other, cost];
        }
        return best;
    },

    /** One marker is in the order of the tab key: the largest, until another one has been focused. */
    keepOneTabStop() {
        const markers = [...this.markers.values()];
        if (markers.some(({ element }) => element.tabIndex === 0)) return;
        const first = markers.reduce((one, other) =>
            (!one || pointCount(other.feature) > pointCount(one.feature) ? other : one), undefined);
        if (first) first.element.tabIndex = 0;
    },
});

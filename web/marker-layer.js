// SPDX-License-Identifier: MIT
// The markers of a view, kept by their keys, so that each moves from where it was to where it is.
/* global L */
import { dress, fontThatFits, isCluster, isPinned, pointCount, radiusOf, resize, textOf } from "./marker.js";
import { currentPoint, glide, place } from "./motion.js";
import { latLng } from "./projection.js";
import { coreAt, roomOf } from "./spacing.js";

/** How long a finger or a button is held for a cluster's panel, in milliseconds. */
const longPress = 550;

export const MarkerLayer = L.Layer.extend({
    /**
     * @param {object} handlers onOpen(marker, way), onInspect(marker, way) for a long press, Shift or the keyboard,
     *   onHover(marker or undefined, way), onLeave() when the keyboard leaves the markers; `way` is "mouse", "touch", "pen"
     *   or "keyboard"
     * @param {(feature: object) => import("./marker.js").Paint|undefined} paint the colours of a marker; undefined for those of
     *   its step
     */
    initialize(handlers, paint = () => undefined) {
        this.handlers = handlers;
        this.paint = paint;
        this.markers = new Map();
        this.waiting = [];
        this.isZooming = false;
        /** Whether markers come and go at once: fading costs a browser without a graphics card most of its time. */
        this.isCalm = false;
    },

    onAdd(map) {
        this.pane = this.makePane("markers", "Markers");
        // Above the numbers: no circle hides what was chosen.
        this.pinnedPane = this.makePane("pinned", "Chosen point");
        this.pinnedPane.classList.add("pinned-pane");
        // A press ends with its click, which there may not be.
        map.getContainer().addEventListener("pointerdown", () => (this.wasPressed = false), true);
        // Cores, which have the numbers, are above all circles; the circles' names say the numbers to screen readers.
        this.labels = map.createPane("counts");
        this.labels.classList.add("core-pane");
        this.labels.setAttribute("aria-hidden", "true");
    },

    makePane(name, label) {
        const pane = this._map.createPane(name);
        pane.classList.add("marker-pane");
        pane.setAttribute("role", "group");
        pane.setAttribute("aria-label", label);
        for (const type of ["click", "keydown", "pointerover", "pointerout", "focusin", "focusout", "pointerdown", "pointermove", "pointerup", "pointercancel", "contextmenu"]) {
            pane.addEventListener(type, (event) => this[`on_${type}`](event));
        }
        L.DomEvent.on(pane, "dblclick", L.DomEvent.stopPropagation);
        return pane;
    },

    /** Puts a marker where it belongs: a pinned point is above all others. */
    attach({ element, feature }) {
        const pane = isPinned(feature) ? this.pinnedPane : this.pane;
        if (element.parentNode === pane) return;
        const hadFocus = element === document.activeElement;
        pane.append(element);
        if (hadFocus) element.focus({ preventScroll: true });
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
        this.arrange();
    },

    /** Gives the markers their colours again: what `paint` says has changed. */
    repaint() {
        for (const marker of this.markers.values()) dress(marker.parts, marker.feature, this.paint(marker.feature));
        this.arrange();
    },

    /** Limits each core to the room that its neighbours leave, once for all changes of a frame. */
    arrange() {
        this.arranging ??= requestAnimationFrame(() => {
            this.arranging = undefined;
            const markers = [...this.markers.values()];
            const circles = markers.map(({ feature, point }) => ({
                x: point.x, y: point.y, radius: radiusOf(feature), text: textOf(feature), weight: pointCount(feature),
            }));
            // In a ring the number has the inner part only.
            const fit = (text, radius) => fontThatFits(text, radius);
            roomOf(circles, fit).forEach((room, index) => {
                markers[index].coreRadius = room.radius;
                resize(markers[index].parts, room);
            });
        });
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
            dress(marker.parts, feature, this.paint(feature));
            this.attach(marker);
            glide(marker, point);
            return;
        }
        const element = document.createElement("button");
        element.type = "button";
        element.tabIndex = -1;
        const label = document.createElement("span");
        marker = { key, feature, latLng: position, element, parts: [element, label] };
        element.marker = marker;
        dress(marker.parts, feature, this.paint(feature));
        if (key === this.selected) element.classList.add("selected");
        this.markers.set(key, marker);
        this.attach(marker);
        this.labels.append(label);
        glide(marker, point, { from: start ?? point, fade: start || this.isCalm ? undefined : "in" });
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
        // Whoever gives the focus back to it later means what it has become: a point that was pinned has another key.
        marker.element.focus = () => this.focusInstead(into);
        const gone = this.isCalm ? Promise.resolve() : glide(marker, point, { fade: "out" });
        gone.then(() => marker.parts.forEach((part) => part.remove()));
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

    /** Marks the marker whose panel is open; undefined for none. */
    select(key) {
        this._map.getPane("mapPane").querySelectorAll(".marker.selected").forEach((circle) => circle.classList.remove("selected"));
        this.selected = key;
        this.markers.get(key)?.element.classList.add("selected");
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
        this.arrange();
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

    /** The marker that an event is about. On a number that is its circle, though a smaller one lies over it. */
    markerOf(event) {
        const { marker } = event.target;
        // A click by the keyboard has no position (detail 0).
        if (!marker || isPinned(marker.feature) || (event.type === "click" && event.detail === 0)) return marker;
        return coreAt(this.markers.values(), this._map.mouseEventToLayerPoint(event)) ?? marker;
    },

    on_click(event) {
        const marker = this.markerOf(event);
        if (!marker) return;
        event.stopPropagation();
        if (this.wasPressed && event.detail > 0) return void (this.wasPressed = false);
        // The browser has focused what lies on top.
        if (marker !== event.target.marker) marker.element.focus({ preventScroll: true });
        const way = event.detail === 0 ? "keyboard" : this.pointer;
        if (event.shiftKey || way === "keyboard") this.handlers.onInspect(marker, way);
        else this.handlers.onOpen(marker, way);
    },

    // A press that stays in place inspects, as a click with Shift does.
    on_pointerdown(event) {
        const marker = this.markerOf(event);
        this.pointer = event.pointerType;
        if (!marker || event.button !== 0) return;
        if (event.shiftKey) event.stopPropagation();
        this.pressedAt = [event.clientX, event.clientY];
        this.press = setTimeout(() => {
            this.wasPressed = true;
            this.handlers.onInspect(marker, this.pointer);
        }, longPress);
    },

    on_pointermove(event) {
        if (event.pointerType === "mouse" && event.buttons === 0) this.hover(this.markerOf(event), "mouse");
        if (!this.pressedAt) return;
        if (Math.hypot(event.clientX - this.pressedAt[0], event.clientY - this.pressedAt[1]) > 8) this.on_pointerup();
    },

    on_pointerup() {
        clearTimeout(this.press);
        this.pressedAt = undefined;
    },

    on_pointercancel() {
        this.on_pointerup();
    },

    /** A long press on a touch screen would open the browser's menu. */
    on_contextmenu(event) {
        if (event.target.marker) event.preventDefault();
    },

    /** Shows which marker the pointer or the keyboard is on; undefined for none. */
    hover(marker, way) {
        if (marker === this.hovered) return;
        this.hovered?.element.classList.remove("hovered");
        marker?.element.classList.add("hovered");
        this.hovered = marker;
        this.handlers.onHover(marker, way);
    },

    on_pointerover(event) {
        const marker = this.markerOf(event);
        if (marker) this.hover(marker, event.pointerType);
    },

    on_pointerout() {
        this.hover(undefined);
    },

    on_focusin(event) {
        if (!event.target.marker) return;
        for (const { element } of this.markers.values()) element.tabIndex = -1;
        event.target.tabIndex = 0;
        if (event.target.matches(":focus-visible")) this.hover(event.target.marker, "keyboard");
    },

    on_focusout() {
        this.hover(undefined);
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

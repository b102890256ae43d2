// SPDX-License-Identifier: MIT
// The slider below the map: a range of an indexed property, with the histogram of what is in view behind it.
/* global L */
import { button, make } from "../dom.js";
import { isBounded } from "../indexed.js";
import { count } from "../numbers.js";
import { Paced } from "../paced.js";
import { Axis, bars, outlineOf, played } from "./axis.js";

/** How long playing takes from one end to the other, in seconds. */
const speeds = [["slow", 40], ["normal", 20], ["fast", 8]];
/** The least distance of both handles, in positions. */
const leastBreadth = 0.005;

export class Slider {
    /**
     * @param {HTMLElement} box
     * @param {object} page histogram(property, how) asks the daemon: of what is in view with `edges`, else of all;
     *   onWindow(window) at most once a frame, onClose(), onRest() once the window has come to rest
     */
    constructor(box, page) {
        Object.assign(this, { box, page, offered: [], range: [0, 1], axis: undefined });
        this.property = make("select", { "aria-label": "Property of the slider" });
        this.property.addEventListener("change", () => this.use({ property: this.property.value }));
        this.play = button("", () => this.toggle(), { className: "play" });
        this.speed = make("select", { "aria-label": "Speed" }, ...speeds.map(([name, duration]) => make("option", { value: duration, selected: name === "normal" }, name)));
        this.output = make("output", {});
        const all = button("All", () => this.set([0, 1]), { title: "Show all values" });
        const close = button("×", () => this.close(), { className: "close", "aria-label": "Close the slider" });
        this.note = make("p", { className: "note", role: "status" });
        this.chart = make("div", { className: "chart" });
        this.handles = ["From", "To"].map((name, index) => {
            const handle = make("div", { className: "handle", role: "slider", tabIndex: 0, "aria-label": name, "aria-orientation": "horizontal" });
            handle.addEventListener("keydown", (event) => this.key(event, index));
            return handle;
        });
        this.ends = make("div", { className: "ends", "aria-hidden": "true" }, make("span"), make("span"), make("span"));
        this.track = make("div", { className: "track" }, this.chart, ...this.handles);
        this.track.addEventListener("pointerdown", (event) => this.grab(event));
        this.track.addEventListener("pointermove", (event) => this.drag(event));
        for (const type of ["pointerup", "pointercancel"]) this.track.addEventListener(type, () => this.release());
        const tools = make("div", { className: "slider-tools" }, this.property, this.play, this.speed, this.output, all, close);
        box.append(tools, this.track, this.ends, this.note);
        this.showPlaying();
        this.histogram = new Paced(() => this.readHistogram());
        document.addEventListener("visibilitychange", () => document.hidden && this.pause());
    }

    get isOpen() {
        return !this.box.hidden;
    }

    /** Whether the window is being moved. */
    get isMoving() {
        return Boolean(this.grabbed || this.playing || this.resting);
    }

    get name() {
        return this.property.value;
    }

    /** Takes over a source's indexed properties. */
    offer(indexed) {
        if (JSON.stringify(indexed) === JSON.stringify(this.offered)) return;
        this.offered = indexed;
        this.property.replaceChildren(...indexed.map(({ name }) => make("option", { value: name }, name)));
    }

    /** Opens it with a window, which may have no bounds; of another property than the last one the axis is read first. */
    async use({ property, from, to }) {
        this.pause();
        const found = this.offered.find(({ name }) => name === property) ?? this.offered[0];
        if (!found) return;
        this.box.hidden = false;
        this.property.value = found.name;
        this.axis = undefined;
        const call = (this.call = {});
        let histogram;
        try {
            histogram = await this.page.histogram(found.name, { bins: bars });
        } catch (error) {
            if (call === this.call) this.say(error.message);
            return;
        }
        if (call !== this.call || !this.isOpen) return;
        const isKnown = histogram.counts.some((number) => number > 0);
        this.say(isKnown ? "" : "No point has a value of this property.");
        if (!isKnown) return;
        this.axis = new Axis(histogram, found.isTime);
        const { axis } = this;
        [axis.least, axis.exactValue(0.5), axis.greatest].forEach((value, index) => (this.ends.children[index].textContent = axis.text(value)));
        this.set(found.name === property ? [axis.positionOf(from, 0), axis.positionOf(to, 1)] : [0, 1]);
        this.histogram.ask();
    }

    close() {
        this.pause();
        this.call = undefined;
        this.box.hidden = true;
        this.axis = undefined;
        this.range = [0, 1];
        this.emit();
        this.page.onClose();
    }

    say(text) {
        this.note.textContent = text;
        for (const part of [this.track, this.ends]) part.hidden = Boolean(text);
    }

    // MARK: The histogram

    /** What is in view has changed. */
    refresh() {
        if (this.isOpen && this.axis) this.histogram.ask();
    }

    async readHistogram() {
        const { axis } = this;
        if (!axis) return;
        const histogram = await this.page.histogram(this.name, { edges: axis.edges }).catch(() => undefined);
        if (!histogram || axis !== this.axis) return;
        this.chart.replaceChildren(...["rest", "part"].map((className) => this.drawing(histogram.counts, className)));
        const number = histogram.counts.reduce((sum, each) => sum + each, 0);
        this.chart.title = `${count(number)} values in view${histogram.missing ? `; ${count(histogram.missing)} points have none` : ""}`;
        this.show();
    }

    drawing(counts, className) {
        const svg = L.SVG.create("svg");
        const path = L.SVG.create("path");
        const attributes = { viewBox: `0 0 ${bars} 1`, preserveAspectRatio: "none", "aria-hidden": "true", class: className };
        for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
        path.setAttribute("d", outlineOf(counts));
        svg.append(path);
        return svg;
    }

    // MARK: The range

    /** @returns {import("../indexed.js").Window|undefined} */
    get window() {
        if (!this.isOpen || !this.name) return undefined;
        const [from, to] = this.range.map((position) => this.axis?.valueAt(position));
        return { property: this.name, from, to };
    }

    /** @param {[number, number]} range positions */
    set(range) {
        this.range = range;
        this.show();
        // What moves it may do so more often than there are frames.
        this.frame ??= requestAnimationFrame(() => {
            this.frame = undefined;
            this.emit();
        });
    }

    emit() {
        clearTimeout(this.resting);
        this.resting = setTimeout(() => {
            this.resting = undefined;
            if (!this.isMoving) this.page.onRest();
        }, 250);
        this.page.onWindow(this.window);
    }

    show() {
        const { axis, range } = this;
        if (!axis) return;
        const part = this.chart.querySelector(".part");
        if (part) part.style.clipPath = `inset(0 ${100 * (1 - range[1])}% 0 ${100 * range[0]}%)`;
        const ends = [axis.least, axis.greatest];
        const texts = range.map((position, index) => {
            const handle = this.handles[index];
            const value = axis.valueAt(position) ?? ends[index];
            handle.style.left = `${100 * position}%`;
            // Where both are at one end, the one that can leave it is above.
            handle.style.zIndex = index === 0 && position > 0.5 ? 2 : 1;
            for (const [name, number] of [["valuemin", ends[0]], ["valuemax", ends[1]], ["valuenow", value]]) handle.setAttribute(`aria-${name}`, number);
            handle.setAttribute("aria-valuetext", axis.text(value));
            return axis.text(value);
        });
        this.output.textContent = isBounded(this.window) ? `${texts[0]} – ${texts[1]}` : "all values";
    }

    /** Moves one end to a position, not beyond the other. */
    moveEnd(index, position) {
        const [from, to] = this.range;
        this.set(index === 0 ? [Math.min(position, to - leastBreadth), to] : [from, Math.max(position, from + leastBreadth)]);
    }

    // MARK: Keyboard and pointer

    key(event, index) {
        const large = event.shiftKey ? 10 : 1;
        const steps = { ArrowLeft: -large, ArrowDown: -large, ArrowRight: large, ArrowUp: large, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity }[event.key];
        if (!steps || !this.axis) return;
        event.preventDefault();
        this.pause();
        this.moveEnd(index, this.axis.moved(this.range[index], steps));
    }

    positionOf(event) {
        const { left, width } = this.track.getBoundingClientRect();
        return Math.max(0, Math.min(1, (event.clientX - left) / width));
    }

    /** A handle, the range between both if it is not all, or the nearer end. */
    grab(event) {
        if (!this.axis || event.button !== 0) return;
        this.pause();
        this.track.setPointerCapture(event.pointerId);
        const at = this.positionOf(event);
        const [from, to] = this.range;
        const handle = this.handles.indexOf(event.target);
        const nearer = Math.abs(at - from) < Math.abs(at - to) ? 0 : 1;
        if (handle < 0 && at > from && at < to && to - from < 1) this.grabbed = { at, range: this.range };
        else this.grabbed = { index: handle < 0 ? nearer : handle, offset: handle < 0 ? 0 : this.range[handle] - at };
        if (this.grabbed.index !== undefined) {
            this.handles[this.grabbed.index].focus({ preventScroll: true });
            if (handle < 0) this.moveEnd(nearer, at);
        }
        event.preventDefault();
    }

    drag(event) {
        const { grabbed } = this;
        if (!grabbed || !this.axis) return;
        const position = this.positionOf(event);
        if (grabbed.index !== undefined) return this.moveEnd(grabbed.index, Math.max(0, Math.min(1, position + grabbed.offset)));
        const [from, to] = grabbed.range;
        const shift = Math.max(-from, Math.min(1 - to, position - grabbed.at));
        this.set([from + shift, to + shift]);
    }

    release() {
        if (!this.grabbed) return;
        this.grabbed = undefined;
        this.emit();
    }

    // MARK: Playing

    toggle() {
        if (this.playing) return this.pause();
        if (!this.axis) return;
        let last = performance.now();
        const step = (now) => {
            this.set(played(this.range, Math.max(0, now - last) / (1000 * Number(this.speed.value))));
            last = now;
            this.playing = requestAnimationFrame(step);
        };
        this.playing = requestAnimationFrame(step);
        this.showPlaying();
    }

    pause() {
        if (!this.playing) return;
        cancelAnimationFrame(this.playing);
        this.playing = undefined;
        this.showPlaying();
        this.emit();
    }

    showPlaying() {
        this.play.textContent = this.playing ? "❚❚" : "▶";
        this.play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
        this.play.title = this.playing ? "Pause (P)" : "Play: move the range along (P)";
    }
}

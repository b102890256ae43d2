// SPDX-License-Identifier: MIT
// A watched viewport: a WebSocket that is opened again whenever it breaks.
import { windowItem } from "./indexed.js";

const firstDelay = 250;
const longestDelay = 8000;
/** Whether keys stay the same from zoom to zoom, and changes say where markers come from and go to. */
const transitions = true;

/**
 * Reports:
 *   onReset()          the next change is the whole view
 *   onChange(item)     a change of the view
 *   onState(state, message)   "connecting", "live", "refused" (the message says why), "offline"
 */
export class Watch {
    constructor(queries, view, pin, { onReset, onChange, onState }) {
        this.queries = queries;
        this.view = view;
        this.pin = pin;
        this.handlers = { onReset, onChange, onState };
        this.delay = firstDelay;
        this.isClosed = false;
        this.connect();
    }

    /** Moves the viewport. Moves before the answer to the last one are combined. */
    move(view) {
        if (view.zoom === this.view.zoom && view.bbox.every((edge, index) => edge === this.view.bbox[index])) return;
        this.view = view;
        this.movedAt = performance.now();
        this.ask();
    }

    /** Asks for what is in the window of the queries now, with another pinned feature if one is given; null for none. */
    restrict(pin = this.pin) {
        this.pin = pin;
        this.ask();
    }

    ask() {
        if (this.isWaiting) this.hasMoved = true;
        else if (this.socket.readyState === WebSocket.OPEN) this.send();
    }

    send() {
        this.isWaiting = true;
        this.hasMoved = false;
        this.sentAt = performance.now();
        this.askedAt = this.movedAt;
        const { bbox, zoom } = this.view;
        const item = { bbox, zoom };
        const window = windowItem(this.queries.window);
        const pin = this.pin === null ? null : [this.pin];
        // What stays as it is need not be said; a source without indexed properties knows no windows.
        if (JSON.stringify(window) !== JSON.stringify(this.sent.window)) item.window = window;
        if (JSON.stringify(pin) !== JSON.stringify(this.sent.pin)) item.pin = pin;
        this.sent = { window, pin };
        this.socket.send(JSON.stringify(item));
    }

    close() {
        this.isClosed = true;
        clearTimeout(this.timer);
        this.socket?.close();
    }

    connect() {
        this.handlers.onState("connecting");
        this.sentAt = performance.now();
        this.isWaiting = true;
        this.hasMoved = false;
        const { bbox, zoom } = this.view;
        const address = this.queries.watchAddress(bbox, zoom, this.pin ?? undefined, transitions);
        const socket = this.queries.open(address);
        this.sent = { window: windowItem(this.queries.window), pin: new URL(address).searchParams.has("pin") ? [this.pin] : null };
        this.hasMoved = this.pin !== null && this.sent.pin === null;
        this.socket = socket;
        let isFirst = true;
        socket.onmessage = (message) => {
            if (this.socket !== socket || this.isClosed) return;
            if (isFirst) {
                isFirst = false;
                this.delay = firstDelay;
                this.handlers.onReset();
                this.handlers.onState("live");
            }
            const item = typeof message.data === "string" ? JSON.parse(message.data) : message.data;
            item.arrived = performance.now();
            const milliseconds = this.isWaiting ? performance.now() - this.sentAt : undefined;
            item.times = milliseconds === undefined ? undefined : { all: milliseconds, daemon: item.daemonMs };
            // When the view that is answered was moved to.
            item.movedAt = this.isWaiting ? this.askedAt : undefined;
            this.isWaiting = false;
            this.handlers.onChange(item);
            if (this.hasMoved) this.send();
        };
        socket.onclose = (event) => {
            if (this.socket !== socket || this.isClosed) return;
            this.explain(event, isFirst);
        };
    }

    /** A browser does not say why an upgrade was refused, so the same question is asked without one. */
    async explain(event, wasRefused) {
        try {
            await this.queries.clusters(this.view.bbox, this.view.zoom, 1);
        } catch (error) {
            if (this.isClosed) return;
            // 4000 + a gRPC code, and statuses of the 400s, will not go away by trying again.
            if (error.httpStatus >= 400 && error.httpStatus < 500 && error.httpStatus !== 429) {
                return this.handlers.onState("refused", error.message);
            }
            return this.retry(error.httpStatus ? error.message : "the daemon does not answer");
        }
        if (this.isClosed) return;
        this.retry(event.reason || (wasRefused ? "the WebSocket was refused" : "the connection was lost"));
    }

    retry(message) {
        this.handlers.onState("offline", message);
        this.timer = setTimeout(() => this.connect(), this.delay);
        this.delay = Math.min(this.delay * 2, longestDelay);
    }
}

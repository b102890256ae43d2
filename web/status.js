// SPDX-License-Identifier: MIT
// The corner that says what is shown, of which revision, and how long the answer took.
import { clock, count, counted } from "./numbers.js";

const states = { connecting: ["", "connecting"], live: ["live", "live"], refused: ["off", "refused"], offline: ["off", "offline"] };

const duration = (milliseconds) => `${milliseconds < 10 ? Math.max(0.1, milliseconds).toFixed(1) : Math.round(milliseconds)} ms`;

export class Status {
    constructor() {
        for (const id of ["light", "connection", "counts", "answer", "announcer"]) {
            this[id] = document.getElementById(id);
        }
    }

    setState(state, message) {
        const [light, text] = states[state];
        this.light.className = light;
        this.connection.textContent = message && state === "offline" ? `offline: ${message}; trying again` : text;
        document.documentElement.dataset.state = state;
    }

    /** `total`: of the source; undefined if there is a filter, of which only what is in view is known. */
    setCounts({ clusters, points, all }, total, revision) {
        const shown = `${counted(clusters, "cluster")}, ${counted(points, "point")}`;
        const of = total === undefined ? ` (${counted(all, "point")} in all)` : ` (${count(all)} of ${counted(total, "point")})`;
        this.counts.textContent = `${shown}${of} · revision ${revision}`;
        document.documentElement.dataset.revision = revision;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => (this.announcer.textContent = `${shown} in view`), 700);
    }

    /**
     * @param {{all: number, daemon: number|undefined}|undefined} times of the answer in milliseconds; undefined for a change of
     *   the data
     * @param {number} drawing in milliseconds
     */
    setAnswer(times, drawing) {
        if (!times) {
            this.answer.textContent = `changed ${clock(new Date())}`;
            this.answer.title = "";
            return;
        }
        const { all, daemon } = times;
        const network = daemon === undefined ? undefined : Math.max(0, all - daemon);
        const parts = daemon === undefined ? [`answered in ${duration(all)}`] : [`answered in ${duration(daemon)}`, `network ${duration(network)}`];
        this.answer.textContent = [...parts, `drawing ${duration(drawing)}`].join(" · ");
        this.answer.title = "The daemon's own time, the way there and back, and drawing in this browser";
    }
}

// SPDX-License-Identifier: MIT
// The corner that says what is shown, of which revision, and how long the answer took.
import { clock, count, counted } from "./numbers.js";

const states = { connecting: ["", "connecting"], live: ["live", "live"], refused: ["off", "refused"], offline: ["off", "offline"] };

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

    /** `total`: of the source; undefined if it is not known. */
    setCounts({ clusters, points, all }, total, revision) {
        const shown = `${counted(clusters, "cluster")}, ${counted(points, "point")}`;
        const of = total === undefined ? "" : ` (${count(all)} of ${counted(total, "point")})`;
        this.counts.textContent = `${shown}${of} · revision ${revision}`;
        document.documentElement.dataset.revision = revision;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => (this.announcer.textContent = `${shown} in view`), 700);
    }

    setAnswer(milliseconds) {
        const took = milliseconds === undefined ? "changed" : `answered in ${Math.max(1, Math.round(milliseconds))} ms,`;
        this.answer.textContent = `${took} ${clock(new Date())}`;
    }
}

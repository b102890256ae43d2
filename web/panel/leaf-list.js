// SPDX-License-Identifier: MIT
// A cluster's points as a list, which is read page by page as it is scrolled, to its end.
import { button, make } from "../dom.js";
import { nameOf } from "../marker.js";
import { counted } from "../numbers.js";
import { grouped } from "../values.js";

const firstPage = 50;
/** Who goes on scrolling gets longer pages. */
const longestPage = 500;

export class LeafList {
    /**
     * @param {import("./panel.js").Shown} shown
     * @param {string|undefined} naming the property that names the source's points
     * @param {(feature: object) => void} onOpen
     */
    constructor({ feature, queries, zoom, revision }, naming, onOpen) {
        Object.assign(this, { queries, zoom, revision, naming, onOpen, id: feature.properties.cluster_id });
        this.read = 0;
        this.abort = new AbortController();
        this.list = make("ol", { className: "leaves" });
        this.end = make("p", { className: "note", role: "status" }, "Reading…");
        this.element = make("div", {}, this.list, this.end);
        this.observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.more(), { rootMargin: "300px" });
        this.observer.observe(this.end);
    }

    close() {
        this.observer.disconnect();
        this.abort.abort();
    }

    async more() {
        if (this.isReading || this.isComplete) return;
        this.isReading = true;
        try {
            const limit = Math.min(longestPage, Math.max(firstPage, this.read));
            const parameters = { limit, offset: this.read, revision: this.revision };
            const { features, total } = await this.queries.ofCluster(this.id, this.zoom, "leaves", parameters, this.abort.signal);
            for (const leaf of features) this.list.append(this.item(leaf));
            this.read += features.length;
            this.isComplete = this.read >= total || !features.length;
            this.end.textContent = this.isComplete ? `All ${counted(total, "point")}.` : `${counted(this.read, "point")} of ${total.toLocaleString("en")}; scroll for more.`;
        } catch (error) {
            if (this.abort.signal.aborted) return;
            this.isComplete = true;
            this.end.textContent = error.httpStatus === 409 ? "The data have changed since. Open the cluster again for its points." : error.message;
        } finally {
            this.isReading = false;
        }
        // The observer reports changes only: a short page may leave the end in sight.
        this.observer.unobserve(this.end);
        if (!this.isComplete) this.observer.observe(this.end);
    }

    item(leaf) {
        const title = nameOf(leaf, this.naming);
        const others = Object.entries(leaf.properties ?? {}).filter(([, value]) => value !== null && value !== title && typeof value !== "object");
        const small = others.slice(0, 3).map(([name, value]) => `${name} ${typeof value === "number" ? grouped.format(value) : value}`).join(" · ");
        const open = button("", () => this.onOpen(leaf));
        open.append(make("b", {}, title), make("small", {}, small));
        return make("li", {}, open);
    }
}

// SPDX-License-Identifier: MIT
// The panel with a point's properties.
import { nameOf } from "./marker.js";
import { positionText } from "./projection.js";

export class Details {
    constructor(panel) {
        this.panel = panel;
    }

    get isOpen() {
        return !this.panel.hidden;
    }

    show(feature) {
        this.returnTo = document.activeElement;
        const title = document.createElement("h2");
        title.textContent = nameOf(feature);
        const close = document.createElement("button");
        close.type = "button";
        close.className = "close";
        close.textContent = "×";
        close.setAttribute("aria-label", "Close");
        close.addEventListener("click", () => this.close());
        const list = document.createElement("dl");
        if (feature.id !== undefined) this.add(list, "id", feature.id);
        this.add(list, "position", positionText(feature.geometry.coordinates));
        for (const [name, value] of Object.entries(feature.properties ?? {})) this.add(list, name, value);
        this.panel.replaceChildren(title, close, list);
        this.panel.hidden = false;
    }

    add(list, name, value) {
        const term = document.createElement("dt");
        term.textContent = name;
        const description = document.createElement("dd");
        if (typeof value === "string" && /^https?:\/\//.test(value)) {
            const link = document.createElement("a");
            Object.assign(link, { href: value, textContent: value, target: "_blank", rel: "noopener noreferrer" });
            description.append(link);
        } else {
            description.textContent = typeof value === "object" ? JSON.stringify(value) : String(value);
        }
        list.append(term, description);
    }

    close() {
        const hadFocus = this.panel.contains(document.activeElement);
        this.panel.hidden = true;
        if (hadFocus) this.returnTo?.focus?.({ preventScroll: true });
    }
}

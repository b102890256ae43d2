// SPDX-License-Identifier: MIT
// The page's keys.

/** @param {Record<string, Function>} actions by key; isBlocked() says whether a dialog has the keys */
export function listenToKeys({ isBlocked, ...actions }) {
    addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || isBlocked()) return;
        const isWriting = event.target.closest?.("input, select, textarea");
        if (isWriting && event.key !== "Escape") return;
        const action = actions[event.key] ?? actions[event.key.toLowerCase()];
        if (!action) return;
        if (event.key !== "Escape" && event.key.length === 1 && !"+-=_".includes(event.key)) event.preventDefault();
        action(event);
    });
}

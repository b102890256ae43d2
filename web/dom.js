// SPDX-License-Identifier: MIT
// Makes elements. Whatever comes from data becomes text, never HTML.

/**
 * @param {string} tag
 * @param {Record<string, any>} members properties of the element; names with "-" and "role" are attributes, undefined is left out
 * @param {...(Node|string|number|undefined)} children
 * @returns {HTMLElement}
 */
export function make(tag, members = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(members)) {
        if (value === undefined) continue;
        if (name.includes("-") || name === "role" || name === "list") element.setAttribute(name, value);
        else element[name] = value;
    }
    element.append(...children.filter((child) => child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
    return element;
}

export const element = (id) => document.getElementById(id);

/** A button with a text. */
export const button = (text, onClick, members = {}) => {
    const made = make("button", { type: "button", textContent: text, ...members });
    made.addEventListener("click", onClick);
    return made;
};

/** Lets the browser save a text as a file. */
export function download(name, mediaType, text) {
    const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
    const link = make("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

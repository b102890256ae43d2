// SPDX-License-Identifier: MIT
// The light and the dark theme: the system's, or the one that was chosen.

const key = "clusterd-theme";
const themes = ["auto", "light", "dark"];
const dark = matchMedia("(prefers-color-scheme: dark)");

function stored() {
    try {
        return localStorage.getItem(key) ?? "auto";
    } catch {
        return "auto";
    }
}

/** Calls `onChange` whenever the page's colours have changed. */
export function start(button, onChange) {
    let theme = themes.includes(stored()) ? stored() : "auto";
    function apply() {
        if (theme === "auto") delete document.documentElement.dataset.theme;
        else document.documentElement.dataset.theme = theme;
        button.title = `Theme: ${theme}`;
        button.setAttribute("aria-label", `Theme: ${theme}`);
        onChange();
    }
    button.addEventListener("click", () => {
        theme = themes[(themes.indexOf(theme) + 1) % themes.length];
        try {
            localStorage.setItem(key, theme);
        } catch {
            // Without storage the choice lasts as long as the page.
        }
        apply();
    });
    dark.addEventListener("change", apply);
    apply();
}

/** Whether the page is dark at the moment. */
export const isDark = () => document.documentElement.dataset.theme === "dark" || (dark.matches && document.documentElement.dataset.theme !== "light");

/** The value of one of the style sheet's colours. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

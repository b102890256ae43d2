// SPDX-License-Identifier: MIT
// What the map page shows: of which source, restricted to what, and what has been read of it.
import { optionsOf } from "../indexed.js";

export const page = {
    source: "", variant: "", filter: "", window: undefined, pin: null, revision: undefined, watch: undefined, queries: undefined,
    isCurrent: false, sources: [], facts: [], last: undefined,
};

export const description = () => page.sources.find(({ source }) => source === page.source);
/** Of the source, or of the view of it that was chosen. */
export const options = () => optionsOf(description()?.options, page.variant);
/** What is asked: SOURCE or SOURCE:VIEW. */
export const queried = () => (page.variant ? `${page.source}:${page.variant}` : page.source);

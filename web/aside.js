// SPDX-License-Identifier: MIT
// Moves the map aside for the panel, and back once the panel is closed, unless somebody has moved the map meanwhile.

/** How far the map may be from where it was moved to and still count as not moved, in pixels: positions are rounded. */
const tolerance = 3;

export class Aside {
    constructor(map) {
        this.map = map;
        map.on("moveend", () => (this.isMoving = false));
    }

    /** Moves the map by an offset in pixels. */
    move(offset) {
        const { map } = this;
        if (!this.isAside()) this.from = map.getCenter();
        // Where all of the world is in sight, its edges would hold the map.
        this.bounds ??= map.options.maxBounds;
        map.setMaxBounds(null);
        this.zoom = map.getZoom();
        this.to = map.unproject(map.project(map.getCenter()).add(offset));
        map.panBy(offset);
        // Without an animation the move has ended already.
        this.isMoving = Boolean(map._panAnim?._inProgress);
    }

    /** Whether the map is where it was moved to, or on the way. */
    isAside() {
        const { map } = this;
        if (!this.from || map.getZoom() !== this.zoom) return false;
        return this.isMoving || map.project(map.getCenter()).distanceTo(map.project(this.to)) <= tolerance;
    }

    back() {
        const { from } = this;
        const isAside = this.isAside();
        this.stay();
        if (isAside) this.map.panTo(from);
    }

    /** Forgets where the map was. */
    stay() {
        if (this.bounds) this.map.setMaxBounds(this.bounds);
        this.from = this.bounds = undefined;
    }
}

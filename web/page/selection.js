// SPDX-License-Identifier: MIT
// The markers, and what has been chosen of them: its panel, its ring, its hull, a fan of those at one place.
/* global L */
import { Aside } from "../aside.js";
import { button, element } from "../dom.js";
import { Fan, mostLeaves } from "../fan.js";
import { Hint } from "../hint.js";
import { Hull } from "../hull.js";
import { isCluster, pointCount } from "../marker.js";
import { MarkerLayer } from "../marker-layer.js";
import { Panel } from "../panel/panel.js";
import { latLng, planeOf, viewport } from "../projection.js";
import { focusMap, map, smallScreen } from "./map.js";
import { toast } from "./notices.js";
import { description, page } from "./state.js";

/** How near to the panel a position may be, in pixels: most of a circle is then in sight. */
const roomBesidePanel = 60;
/** How much of a small screen's map the panel takes at most; see panels.css. */
const panelShare = 0.55;

export class Selection {
    /**
     * @param {object} handlers paint(feature) gives a marker's colours, scale() those of all; onPin() when another point, or none,
     *   is kept on the map
     */
    constructor({ paint, scale, onPin }) {
        this.onPin = onPin;
        const box = element("details");
        this.panel = new Panel(box, {
            onZoom: (shown) => this.zoomTo(shown),
            onShow: (feature) => this.showPlace(feature),
            onGoTo: (feature) => this.goTo(feature),
            facts: () => page.facts,
            isPlane: () => Boolean(planeOf(description())),
            pinning: (feature) => this.pinButton(feature),
            colouring: scale,
        });
        this.markers = new MarkerLayer({
            onOpen: (marker, way) => this.open(marker, way),
            onInspect: (marker, way) => this.inspect(marker, way),
            onHover: (marker, way) => {
                if (marker) page.last = marker.key;
                this.hint.show(marker, way);
                this.outline(marker);
            },
            onLeave: focusMap,
        }, paint);
        this.markers.addTo(map);
        this.hull = new Hull(map);
        this.hint = new Hint(map, toast);
        this.aside = new Aside(map);
        // Above the markers: a circle would hide where in it the chosen point is.
        map.createPane("chosen").classList.add("chosen-pane");
        this.ring = L.circleMarker([0, 0], { radius: 13, className: "chosen", interactive: false, pane: "chosen" });
        this.fan = new Fan(map, (feature) => this.panel.show(this.shown(feature)));
        new MutationObserver(() => {
            if (this.panel.isOpen) return;
            this.aside.back();
            this.ring.remove();
            this.markers.select(undefined);
        }).observe(box, { attributes: true, attributeFilter: ["hidden"] });
        map.on("click", () => {
            // The release of a circle that was held is a click on the map if that has moved aside meanwhile.
            if (!this.markers.wasPressed) this.panel.close();
        });
    }

    /** What a panel shows of a feature of the view. */
    shown(feature, key) {
        return { feature, key, zoom: viewport(map).zoom, revision: page.revision, queries: page.queries };
    }

    outline(marker) {
        this.hull.show(marker, page.queries, viewport(map).zoom, page.revision);
    }

    // MARK: Markers

    /** A click: a point's panel, or where a cluster separates. */
    async open(marker, way) {
        const { feature } = marker;
        this.hull.hide();
        this.hint.hide();
        if (!isCluster(feature)) {
            const together = this.markers.pointsAt(marker);
            if (together.length > 1) {
                return this.fan.open(marker.latLng, together.slice(0, mostLeaves).map((other) => other.feature), together.length);
            }
            return this.inspect(marker);
        }
        const shown = this.shown(feature, marker.key);
        const { queries, zoom, revision } = shown;
        try {
            const shape = await queries.ofCluster(feature.properties.cluster_id, zoom, "hull", { revision });
            if (shape.geometry?.type === "Point") {
                const leaves = await queries.ofCluster(feature.properties.cluster_id, zoom, "leaves", { revision, limit: mostLeaves });
                return this.fan.open(marker.latLng, leaves.features, leaves.total);
            }
            if (way === "touch") this.hint.tapped();
            this.aside.stay();
            this.panel.close();
            await this.zoomTo(shown);
        } catch (error) {
            report(error);
        }
    }

    /** The panel of a point or a cluster. */
    inspect(marker, way) {
        const { feature, key } = marker;
        this.hint.hide();
        if (way === "touch" && isCluster(feature)) this.hint.held();
        this.pin(feature);
        this.panel.show(this.shown(feature, key));
        this.markers.select(key);
        this.outline(marker);
        this.uncover(marker.latLng);
    }

    /** Inspects the circle that was last chosen or looked at, or the largest. */
    inspectLast() {
        const all = this.markers.markers;
        const marker = all.get(page.last) ??
            [...all.values()].toSorted((one, other) => pointCount(other.feature) - pointCount(one.feature))[0];
        if (marker) this.inspect(marker);
    }

    async zoomTo({ feature, zoom: found, revision, queries }) {
        try {
            const { zoom } = await queries.ofCluster(feature.properties.cluster_id, found, "expansion-zoom", { revision });
            // The browser's way back leads to the view before the click.
            history.pushState(null, "", location.href);
            map.setView(latLng(map, feature.geometry.coordinates), Math.min(zoom, map.getMaxZoom()));
        } catch (error) {
            report(error);
        }
    }

    // MARK: The point that is kept

    /** Keeps a point on the map, whatever the zoom, until another one is chosen; a point without an id can't be kept. */
    pin(feature) {
        if (isCluster(feature) || feature.id === undefined) return;
        this.setPin(feature.id);
    }

    setPin(id) {
        if (id === page.pin) return;
        page.pin = id;
        page.watch?.restrict(id);
        this.onPin();
    }

    /** The button of a point's panel that keeps it on the map, or lets it go. */
    pinButton(feature) {
        if (feature.id === undefined) return undefined;
        const toggle = button("", () => {
            this.setPin(page.pin === feature.id ? null : feature.id);
            show();
        });
        const show = () => {
            toggle.textContent = page.pin === feature.id ? "Unpin" : "Pin";
            toggle.title = page.pin === feature.id ? "Let it be part of a circle again" : "Always show it as a point of its own";
        };
        show();
        return toggle;
    }

    // MARK: Places

    /** Moves the map so that neither the panel nor the top list hides what the panel is about. */
    uncover(place) {
        const size = map.getSize();
        const { x, y } = map.latLngToContainerPoint(place);
        const panelWidth = element("details").offsetWidth;
        if (panelWidth < 0.8 * size.x) {
            const free = size.x - panelWidth - 10;
            const taken = element("top").hidden ? 0 : element("side").offsetWidth + 10;
            if (x > free - roomBesidePanel || (taken && x < taken + roomBesidePanel)) this.aside.move([x - (taken + free) / 2, 0]);
        } else {
            const free = size.y * (1 - panelShare);
            if (y > free - roomBesidePanel) this.aside.move([0, y - free / 2]);
        }
    }

    /** From what is to be in the middle of what the panel leaves free to the middle of the map, in pixels. */
    besidePanel() {
        return smallScreen.matches ? [0, (panelShare * map.getSize().y) / 2] : [element("details").offsetWidth / 2, 0];
    }

    ringAt(feature) {
        this.ring.setLatLng(latLng(map, feature.geometry.coordinates)).addTo(map);
    }

    /** The panel of a point of a list, and the map moved to it unless it is in sight. */
    openListed(feature) {
        this.panel.show(this.shown(feature));
        this.showPlace(feature);
    }

    /** Moves the map to a point, unless it is in sight. */
    showPlace(feature) {
        const place = latLng(map, feature.geometry.coordinates);
        this.hull.hide();
        this.ringAt(feature);
        if (map.getBounds().pad(-0.1).contains(place)) this.uncover(place);
        else map.panTo(map.unproject(map.project(place).add(this.besidePanel())));
    }

    /** Goes to a point, deep enough to see it by itself, and shows its panel. */
    async goTo(feature) {
        let zoom = Math.max(map.getZoom(), 10);
        if (feature.id !== undefined) {
            const located = await page.queries.locate(feature.id, viewport(map).zoom).catch(() => ({}));
            zoom = Math.max(map.getZoom(), Math.min(located.standsAloneFrom ?? 17, 17));
        }
        history.pushState(null, "", location.href);
        const place = latLng(map, feature.geometry.coordinates);
        // A point of a cluster's list keeps its way back.
        if (this.panel.shown?.feature !== feature) this.panel.show({ ...this.shown(feature), zoom });
        this.markers.select(undefined);
        map.setView(map.unproject(map.project(place, zoom).add(this.besidePanel()), zoom), zoom);
        this.ringAt(feature);
    }

    // MARK: Changes

    /** Closes or renews the panel if what it shows passes no more, or has changed. */
    async check() {
        const { shown } = this.panel;
        if (!shown) return;
        if (isCluster(shown.feature)) {
            const marker = this.markers.markers.get(shown.key);
            if (!marker || !isCluster(marker.feature)) return this.panel.close();
            return this.panel.show({ ...shown, ...this.shown(marker.feature, shown.key) }, { keepsFocus: true });
        }
        const { queries } = page;
        const isThere = await passes(shown.feature, queries);
        if (this.panel.shown === shown && queries === page.queries && !isThere) this.panel.close();
    }
}

/** Whether a point is among those that pass the filter. */
async function passes(feature, queries) {
    if (feature.id !== undefined) {
        return queries.locate(feature.id, 24).then(() => true, (error) => error.httpStatus !== 404);
    }
    const [x, y] = feature.geometry.coordinates;
    const answer = await queries.points([x - 1e-5, y - 1e-5, x + 1e-5, y + 1e-5]).catch(() => undefined);
    const text = JSON.stringify(feature.properties);
    return !answer || answer.features.some((other) => JSON.stringify(other.properties) === text);
}

function report(error) {
    // The data have changed since the circle was drawn: what is there now is on its way.
    if (error.httpStatus !== 409 && error.httpStatus !== 404) toast(error.message);
}

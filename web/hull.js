// SPDX-License-Identifier: MIT
// The area of a cluster's points, shown while the pointer or the keyboard is on it.
/* global L */
import { isCluster } from "./marker.js";

const delay = 80;

export class Hull {
    constructor(map) {
        this.map = map;
        this.layer = L.geoJSON(undefined, { interactive: false, style: { className: "hull" }, pointToLayer: () => L.layerGroup() }).addTo(map);
        map.on("zoomstart", () => this.hide());
    }

    /** Shows the hull of a marker's cluster; `queries`, `zoom` and `revision` are those that the marker is from. */
    show(marker, queries, zoom, revision) {
        this.hide();
        if (!marker || !isCluster(marker.feature)) return;
        const abort = new AbortController();
        this.abort = abort;
        this.timer = setTimeout(async () => {
            try {
                const hull = await queries.ofCluster(
                    marker.feature.properties.cluster_id, zoom, "hull", { revision }, abort.signal);
                if (abort.signal.aborted) return;
                const shift = Math.round((marker.latLng.lng - marker.feature.geometry.coordinates[0]) / 360) * 360;
                this.layer.options.coordsToLatLng = ([longitude, latitude]) => L.latLng(latitude, longitude + shift);
                this.layer.clearLayers().addData(hull);
            } catch {
                // The cluster has gone meanwhile, or the pointer has.
            }
        }, delay);
    }

    hide() {
        clearTimeout(this.timer);
        this.abort?.abort();
        this.layer.clearLayers();
    }
}

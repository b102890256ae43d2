// SPDX-License-Identifier: MIT
// Markers' movement: by the compositor, from wherever a marker is when it is moved again.

const milliseconds = 300;
const easing = "cubic-bezier(0.25, 0.1, 0.25, 1)";
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

const transform = (point) => `translate(${point.x}px, ${point.y}px)`;

/** The position that the element has at this moment. */
export function currentPoint(marker) {
    const [animation] = marker.animations ?? [];
    const progress = animation?.playState === "running" ? animation.effect.getComputedTiming().progress ?? 1 : 1;
    const { from, point } = marker;
    return progress >= 1 || !from
        ? point : { x: from.x + (point.x - from.x) * progress, y: from.y + (point.y - from.y) * progress };
}

/** Puts a marker, whose elements are its `parts`, at a point at once. */
export function place(marker, point) {
    for (const animation of marker.animations ?? []) animation.cancel();
    marker.animations = undefined;
    marker.from = undefined;
    marker.point = point;
    for (const part of marker.parts) part.style.transform = transform(point);
}

/** Moves a marker to a point, fading it in or out if `fade` is "in" or "out". Resolves when it is there. */
export function glide(marker, point, { from = currentPoint(marker), fade } = {}) {
    const isSame = Math.abs(from.x - point.x) < 0.5 && Math.abs(from.y - point.y) < 0.5;
    place(marker, point);
    if (reduced.matches || document.hidden || (isSame && !fade)) return Promise.resolve();
    marker.from = from;
    const frames = [{ transform: transform(from) }, { transform: transform(point) }];
    if (fade === "in") [frames[0].opacity, frames[1].opacity] = [0, 1];
    if (fade === "out") [frames[0].opacity, frames[1].opacity] = [1, 0];
    const timing = { duration: milliseconds, easing, fill: fade === "out" ? "forwards" : "none" };
    marker.animations = marker.parts.map((part) => part.animate(frames, timing));
    return marker.animations[0].finished.catch(() => {});
}

/**
 * Shows pictures large, one at a time. Arrow keys, buttons and a swipe go to the next one; pinching, a double click and the keys + and -
 * zoom; Escape, a swipe down and a click beside the picture close it.
 *
 * @module viewer
 */

import { nameOf } from "./people.js";
import { element, formats, link } from "./text.js";
import { texts } from "./texts.js";

/** The greatest zoom, that of a double click, and the step of a key. */
const MAXIMUM_SCALE = 6;
const CLICKED_SCALE = 2.5;
const STEP = 1.5;
/** Distances from which on a movement is a swipe, to the side and down, in CSS pixels; a shorter one than the last is a click. */
const SWIPE = 60;
const SWIPE_DOWN = 110;
const CLICK = 6;

/**
 * @typedef {{url: URL, alt: string, message: import("./message.js").Content}} Picture
 * @typedef {{x: number, y: number}} Point
 */

/**
 * @param {readonly Picture[]} pictures
 * @param {number} index The one that is shown first.
 */
export function openViewer(pictures, index) {
    const button = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ run) => {
        const made = element("button", { type: "button", class: name, title: label, "aria-label": label, autofocus: name === "close" });
        made.onclick = run;
        return made;
    };
    const about = element("p", { "aria-live": "polite" });
    const stage = element("div", { class: "stage" });
    const original = element("span");
    const [previous, next] = [button("previous", texts.previousPicture, () => go(-1)), button("next", texts.nextPicture, () => go(1))];
    /** @type {HTMLDialogElement} */
    const dialog = element("dialog", { class: "viewer", "aria-label": texts.picture },
        element("header", {}, about, original, button("close", texts.close, () => dialog.close())), stage, previous, next);
    /** @type {HTMLImageElement} */
    let image;
    let [scale, x, y] = [1, 0, 0];

    const place = () => {
        image.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
        stage.toggleAttribute("data-zoomed", scale > 1);
    };

    /**
     * Zooms, and keeps a point of the stage where it is.
     *
     * @param {number} to
     * @param {Point} [at] By default the middle.
     */
    const zoom = (to, at) => {
        const box = stage.getBoundingClientRect();
        const [dx, dy] = at ? [at.x - box.left - box.width / 2, at.y - box.top - box.height / 2] : [0, 0];
        const wanted = Math.min(MAXIMUM_SCALE, Math.max(1, to));
        [x, y] = wanted === 1 ? [0, 0] : [dx - ((dx - x) * wanted) / scale, dy - ((dy - y) * wanted) / scale];
        scale = wanted;
        place();
    };

    const show = () => {
        const { url, alt, message } = pictures[index];
        image = element("img", { src: url.href, alt, referrerpolicy: "no-referrer", draggable: "false" });
        stage.replaceChildren(image);
        const sent = message.created_at ? ` · ${formats().exact.format(new Date(message.created_at))}` : "";
        about.replaceChildren(element("bdi", {}, nameOf(message.sender)), sent, pictures.length > 1 ? ` · ${index + 1} / ${pictures.length}` : "");
        const opener = link(url);
        opener.title = opener.ariaLabel = texts.openOriginal;
        opener.tabIndex = 0;
        original.replaceChildren(opener);
        // The one that has the focus stays, so that it can be pressed again.
        previous.ariaDisabled = String(index === 0);
        next.ariaDisabled = String(index === pictures.length - 1);
        zoom(1);
    };

    /** @param {number} step */
    const go = (step) => {
        const to = Math.min(pictures.length - 1, Math.max(0, index + step));
        if (to === index) return zoom(1);
        index = to;
        show();
    };

    /** @type {Map<number, Point>} The fingers or buttons that are down. */
    const pressed = new Map();
    /** The movement since the first one came down. @type {{from: Point, moved: Point, isPinch: boolean}} */
    let gesture = { from: { x: 0, y: 0 }, moved: { x: 0, y: 0 }, isPinch: false };
    /** The middle of the fingers, and how far they are apart. */
    const spread = () => {
        const points = [...pressed.values()];
        const [one, other] = [points[0], points[1] ?? points[0]];
        return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, apart: Math.hypot(one.x - other.x, one.y - other.y) };
    };
    stage.onpointerdown = (event) => {
        if (event.button) return;
        stage.setPointerCapture(event.pointerId);
        pressed.set(event.pointerId, { x: event.clientX, y: event.clientY });
        if (pressed.size === 1) gesture = { from: spread(), moved: { x: 0, y: 0 }, isPinch: false };
        else gesture.isPinch = true;
    };
    stage.onpointermove = ({ pointerId, clientX, clientY }) => {
        if (!pressed.has(pointerId)) return;
        const before = spread();
        pressed.set(pointerId, { x: clientX, y: clientY });
        const now = spread();
        gesture.moved = { x: now.x - gesture.from.x, y: now.y - gesture.from.y };
        if (pressed.size > 1) zoom((scale * now.apart) / Math.max(1, before.apart), now);
        x += now.x - before.x;
        y += now.y - before.y;
        place();
    };
    const released = (/** @type {PointerEvent} */ { pointerId, type }) => {
        if (!pressed.delete(pointerId) || pressed.size) return;
        const { moved, isPinch } = gesture;
        if (scale > 1) return;
        const isSwipe = !isPinch && type === "pointerup";
        if (isSwipe && Math.abs(moved.x) > Math.max(SWIPE, Math.abs(moved.y))) go(moved.x < 0 ? 1 : -1);
        else if (isSwipe && moved.y > SWIPE_DOWN) dialog.close();
        else zoom(1);
    };
    stage.onpointerup = stage.onpointercancel = released;
    stage.onclick = ({ clientX, clientY }) => {
        const box = image.getBoundingClientRect();
        const isBeside = clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
        if (isBeside && Math.hypot(gesture.moved.x, gesture.moved.y) < CLICK) dialog.close();
    };
    stage.ondblclick = ({ clientX, clientY }) => zoom(scale > 1 ? 1 : CLICKED_SCALE, { x: clientX, y: clientY });
    // Pinching a trackpad comes as a wheel with this key.
    stage.addEventListener("wheel", (event) => {
        event.preventDefault();
        if (event.ctrlKey) zoom(scale * Math.exp(-event.deltaY / 100), { x: event.clientX, y: event.clientY });
    }, { passive: false });
    dialog.onkeydown = (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const run = new Map([
            ["ArrowLeft", () => go(-1)], ["ArrowRight", () => go(1)], ["Home", () => go(-index)], ["End", () => go(pictures.length)],
            ["+", () => zoom(scale * STEP)], ["=", () => zoom(scale * STEP)], ["-", () => zoom(scale / STEP)], ["0", () => zoom(1)],
        ]).get(event.key);
        if (!run) return;
        event.preventDefault();
        run();
    };
    dialog.onclose = () => dialog.remove();
    document.body.append(dialog);
    show();
    dialog.showModal();
}

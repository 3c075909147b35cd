/**
 * The menu of a message: reactions, and what can be done with it. It opens beside the pointer; on a phone it is a sheet at the lower
 * edge.
 *
 * @module menu
 */

import { $, element } from "./text.js";
import { texts } from "./texts.js";

/** The least distance of the menu from the edges of the window, in CSS pixels. */
const MARGIN = 8;

/**
 * @typedef {object} Item
 * @property {string} name Identifies the item, for tests and style sheets.
 * @property {string} label
 * @property {boolean} [isDangerous] True for what cannot be undone.
 * @property {() => void} run Called after the menu is closed.
 */

/**
 * Opens the menu. Escape, or a click beside it, closes it.
 *
 * @param {{x: number, y: number}} place The corner of the menu, in CSS pixels of the window.
 * @param {string} label What the menu is for, for screen readers.
 * @param {string} note A line below the items.
 * @param {{emoji: readonly string[], react: (key: string) => void}} reactions
 * @param {Item[]} items
 */
export function openMenu({ x, y }, label, note, { emoji, react }, items) {
    const dialog = /** @type {HTMLDialogElement} */ ($("#menu"));
    /** @type {Map<EventTarget | null, () => void>} What the buttons do. */
    const runs = new Map([[dialog, () => {}]]);
    const button = (/** @type {Record<string, string>} */ attributes, /** @type {string} */ text, /** @type {() => void} */ run) => {
        const made = element("button", { type: "button", tabindex: "-1", ...attributes }, text);
        runs.set(made, run);
        return made;
    };
    dialog.setAttribute("aria-label", label);
    dialog.replaceChildren(
        element("div", { class: "emoji-row", role: "group", "aria-label": texts.react },
            ...emoji.map((key) => button({ "data-menu-react": key, "aria-label": texts.reactWith(key) }, key, () => react(key)))),
        element("div", { role: "menu", "aria-label": label }, ...items.map(({ name, label, isDangerous, run }) =>
            button({ role: "menuitem", "data-menu-item": name, class: isDangerous ? "danger" : "" }, label, run))),
        element("p", { class: "note" }, note));
    // The press that has opened the menu ends on it, and is no choice.
    let isPressed = false;
    dialog.onpointerdown = () => (isPressed = true);
    dialog.onclick = ({ target, detail }) => {
        const run = runs.get(target);
        if (!run || (detail > 0 && !isPressed)) return;
        dialog.close();
        run();
    };
    dialog.onkeydown = (event) => moveFocus(dialog, event);
    dialog.showModal();
    const { width, height } = dialog.getBoundingClientRect();
    dialog.style.setProperty("--x", `${Math.max(MARGIN, Math.min(x, innerWidth - width - MARGIN))}px`);
    dialog.style.setProperty("--y", `${y + height + MARGIN > innerHeight ? Math.max(MARGIN, Math.min(y, innerHeight) - height) : y}px`);
    /** @type {HTMLElement | null} */ (dialog.querySelector("[role=menuitem]"))?.focus();
}

/** Closes the menu if it is open. */
export function closeMenu() {
    /** @type {HTMLDialogElement} */ ($("#menu")).close();
}

/**
 * Up and down move between the items, left and right between the reactions, which are above the first item.
 *
 * @param {HTMLElement} dialog
 * @param {KeyboardEvent} event
 */
function moveFocus(dialog, event) {
    /** @type {(selector: string) => HTMLElement[]} */
    const all = (selector) => [...dialog.querySelectorAll(selector)].flatMap((node) => (node instanceof HTMLElement ? [node] : []));
    const [items, reactions] = [all("[role=menuitem]"), all("[data-menu-react]")];
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    const [item, reaction] = [items.indexOf(focused), reactions.indexOf(focused)];
    const next = new Map([
        ["ArrowDown", item < 0 ? items[0] : items[Math.min(item + 1, items.length - 1)]],
        ["ArrowUp", item > 0 ? items[item - 1] : reactions[Math.max(reaction, 0)]],
        ["ArrowRight", reactions[Math.min(reaction + 1, reactions.length - 1)]],
        ["ArrowLeft", reactions[Math.max(reaction - 1, 0)]],
        ["Home", items[0]],
        ["End", items[items.length - 1]],
    ]).get(event.key);
    if (!next) return;
    event.preventDefault();
    next.focus();
}

/**
 * Puts a text on the clipboard.
 *
 * @param {string} text
 */
export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        // Over plain HTTP from another machine, browsers have no clipboard but that of a selection.
        const field = element("textarea", { readonly: true, class: "announcer", "aria-hidden": "true" });
        field.value = text;
        const focused = /** @type {HTMLElement | null} */ (document.activeElement);
        document.body.append(field);
        field.select();
        document.execCommand("copy");
        field.remove();
        focused?.focus({ preventScroll: true });
    }
}

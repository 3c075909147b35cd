/**
 * Lists of messages beside the timeline: the bar of pinned messages, and a dialog.
 *
 * @module messages
 */

import { BLOCKED_TEXT } from "./message.js";
import { avatar, nameOf } from "./people.js";
import { $, element, formats, summary } from "./text.js";
import { texts } from "./texts.js";

/**
 * @typedef {import("./client/index.js").Message} Message
 *
 * @typedef {object} List What the dialog shows.
 * @property {string} title
 * @property {string} empty The text for a list without messages.
 * @property {readonly Message[]} messages
 * @property {(message: Message) => boolean} isFolded
 * @property {(message: Message) => string} about A line of text below the name.
 * @property {(message: Message) => void} go Called with the message that the user chooses. The dialog is closed.
 * @property {((message: Message) => void) | null} [unpin]
 * @property {(() => void) | null} [more] Loads further messages.
 */

const dialog = () => /** @type {HTMLDialogElement} */ ($("#messages-dialog"));

/**
 * Draws the dialog, and opens it.
 *
 * @param {List} list
 */
export function showMessages(list) {
    $("#messages-error").textContent = "";
    drawMessages(list);
    if (!dialog().open) dialog().showModal();
}

/**
 * True while the dialog shows a list of this title.
 *
 * @param {string} title
 */
export const showsMessages = (title) => dialog().open && $("#messages-title").textContent === title;

/**
 * Shows why a request of the dialog has failed.
 *
 * @param {string} text
 */
export const showMessagesError = (text) => void ($("#messages-error").textContent = text);

/** @param {List} list */
export function drawMessages({ title, empty, messages, isFolded, about, go, unpin, more }) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const [place, hadFocus] = [focused?.closest("li")?.dataset.place, focused?.closest("#found") != null];
    $("#messages-title").textContent = title;
    $("#found").replaceChildren(...messages.map((message) => {
        const name = nameOf(message.sender);
        const text = isFolded(message) ? BLOCKED_TEXT : summary(message);
        const open = element("button", { type: "button", class: "found" },
            avatar(message.sender),
            element("span", { class: "who" }, element("b", { dir: "auto" }, name), element("span", { dir: "auto" }, text), element("small", {}, about(message))));
        open.onclick = () => {
            dialog().close();
            go(message);
        };
        const remove = unpin ? element("button", { type: "button", "aria-label": texts.unpinOf(`${name}: ${text}`) }, texts.unpin) : null;
        if (remove) remove.onclick = () => unpin?.(message);
        return element("li", { "data-place": `${message.room}/${message.seq}` }, open, remove);
    }));
    if (!messages.length) $("#found").append(element("li", { class: "none" }, empty));
    const further = $("#messages-more");
    further.hidden = !more;
    further.onclick = more ?? null;
    if (!hadFocus) return;
    const again = [...$("#found").children].find((item) => item instanceof HTMLElement && item.dataset.place === place);
    /** @type {HTMLElement | null} */ ((again ?? dialog()).querySelector("button:not([hidden])"))?.focus();
}

/**
 * Draws the bar of pinned messages.
 *
 * @param {readonly Message[]} pinned The latest first.
 * @param {(message: Message) => boolean} isFolded
 */
export function drawPins(pinned, isFolded) {
    const [latest] = pinned;
    $("#pins").hidden = !latest;
    if (!latest) return;
    const text = isFolded(latest) ? BLOCKED_TEXT : summary(latest);
    $("#pin-latest").replaceChildren(
        element("span", { "aria-hidden": "true" }, "📌"),
        element("span", { class: "who" }, element("small", {}, texts.pinnedMessage), element("span", { dir: "auto" }, `${nameOf(latest.sender)}: ${text}`)));
    $("#pin-list").textContent = pinned.length > 1 ? texts.allPins(pinned.length) : texts.list;
}

/**
 * The day on which a message was sent, or the time of today.
 *
 * @param {Message} message
 */
export function sentAt({ created_at }) {
    const time = new Date(created_at);
    return (time.toDateString() === new Date().toDateString() ? formats().clock : formats().date).format(time);
}

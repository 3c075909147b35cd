/**
 * The dialog in which the user says what may disturb in a room, and until when.
 *
 * @module mute
 */

import { $, formats } from "./text.js";
import { problemText, texts } from "./texts.js";

const HOUR_MILLISECONDS = 3600000;
/** The hour at which a morning begins. */
const MORNING = 8;

/** What is said of each level. */
const LEVELS = { all: texts.allMessages, mentions: texts.mentionsOnly, none: texts.nothing };

/** @type {Record<string, () => Date | undefined>} The ends to choose from. */
const ENDS = {
    never: () => undefined,
    hour: () => new Date(Date.now() + HOUR_MILLISECONDS),
    morning: () => {
        const end = new Date();
        end.setDate(end.getDate() + 1);
        end.setHours(MORNING, 0, 0, 0);
        return end;
    },
};

/**
 * Shows on the room's button what may disturb.
 *
 * @param {import("./client/notify.js").Notify} notify
 * @param {string} room
 */
export function drawMute(notify, room) {
    const { level } = notify.get(room);
    const text = texts.muteOf(LEVELS[level]);
    const button = $("#mute");
    if (button.title === text) return;
    button.title = text;
    button.setAttribute("aria-label", text);
    button.dataset.level = level;
}

/**
 * Opens the dialog.
 *
 * @param {import("./client/notify.js").Notify} notify
 * @param {string} room
 */
export function openMute(notify, room) {
    const dialog = /** @type {HTMLDialogElement} */ ($("#mute-dialog"));
    const form = /** @type {HTMLFormElement} */ ($("#mute-dialog form"));
    const [end, kept] = [/** @type {HTMLSelectElement} */ ($("#mute-end")), /** @type {HTMLOptionElement} */ ($("#mute-kept"))];
    const { level, until, room_mentions } = notify.get(room);
    const fields = /** @type {{level: RadioNodeList} & HTMLFormControlsCollection} */ (form.elements);
    fields.level.value = level;
    kept.hidden = kept.disabled = until === undefined;
    kept.value = until ?? "";
    kept.textContent = until === undefined ? "" : texts.until(formats().exact.format(new Date(until)));
    end.value = until ?? "never";
    const problem = $("#mute-error");
    problem.textContent = "";
    form.onchange = () => (end.disabled = fields.level.value === "all");
    form.onchange(new Event("change"));
    form.onsubmit = async (event) => {
        event.preventDefault();
        const level = /** @type {keyof typeof LEVELS} */ (fields.level.value);
        const until = level === "all" ? undefined : end.value in ENDS ? ENDS[end.value]() : end.value;
        try {
            await notify.set(room, { level, until, room_mentions });
        } catch (error) {
            return void (problem.textContent = problemText(error));
        }
        dialog.close();
    };
    dialog.showModal();
}

/**
 * A question before something that cannot be undone.
 *
 * @module question
 */

import { $ } from "./text.js";

/** The answer to the latest question. @type {Promise<boolean>} */
let latest = Promise.resolve(false);

/**
 * Asks the user.
 *
 * @param {string} text The question.
 * @param {string} yes The text of the button that agrees.
 * @returns {Promise<boolean>} False if the user cancels, also with Escape.
 */
export function ask(text, yes) {
    // The dialog's event comes some time after it is closed, and would be taken for the answer to the next question.
    latest = latest.then(() => show(text, yes));
    return latest;
}

/**
 * Asks why a message is reported.
 *
 * @returns {Promise<{reason: import("./client/index.js").ReportReason, note: string} | null>} Null if the user cancels.
 */
export function askReason() {
    const dialog = /** @type {HTMLDialogElement} */ ($("#report-dialog"));
    const form = /** @type {HTMLFormElement} */ ($("#report-dialog form"));
    form.reset();
    dialog.returnValue = "cancel";
    dialog.showModal();
    return new Promise((resolve) => dialog.addEventListener("close", () => {
        const fields = new FormData(form);
        const reason = /** @type {import("./client/index.js").ReportReason} */ (fields.get("reason"));
        resolve(dialog.returnValue === "report" ? { reason, note: String(fields.get("note")).trim() } : null);
    }, { once: true }));
}

/**
 * @param {string} text
 * @param {string} yes
 * @returns {Promise<boolean>}
 */
function show(text, yes) {
    const dialog = /** @type {HTMLDialogElement} */ ($("#question-dialog"));
    $("#question-text").textContent = text;
    $("#question-yes").textContent = yes;
    dialog.returnValue = "cancel";
    dialog.showModal();
    return new Promise((resolve) => {
        const closed = () => {
            // Chromium gives the focus back, but not the caret, if a button was clicked. Typed text would be lost.
            const activeElement = /** @type {HTMLElement | null} */ (document.activeElement);
            activeElement?.blur();
            activeElement?.focus({ preventScroll: true });
            resolve(dialog.returnValue === "yes");
        };
        dialog.addEventListener("close", closed, { once: true });
    });
}

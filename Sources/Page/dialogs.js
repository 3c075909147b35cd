/**
 * The dialogs: a question, what may disturb, the menu of a message, lists of messages, the search, and pictures, large.
 *
 * @module dialogs
 */

import { dayText, midnight } from "./calendar.js";
import { search } from "./client/search.js";
import { BLOCKED_TEXT } from "./message.js";
import { avatar, nameOf } from "./people.js";
import { $, cut, element, formats, link, plain, SPLIT, summary } from "./text.js";
import { problemText, texts } from "./texts.js";

// A question before something that cannot be undone

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

/**
 * Calls a function when the form of a dialog is sent, and closes the dialog. What is wrong stands in the dialog, which then stays open.
 *
 * @param {HTMLDialogElement} dialog
 * @param {() => Promise<string | void>} send Returns what is wrong, or throws it.
 */
export function onSend(dialog, send) {
    const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));
    const problem = /** @type {HTMLElement} */ (dialog.querySelector(".error"));
    form.onsubmit = async (event) => {
        event.preventDefault();
        problem.textContent = (await send().catch(problemText)) ?? "";
        if (!problem.textContent) dialog.close();
    };
}

// The choice of what may disturb in a room, and until when

const HOUR_MILLISECONDS = 3600000;
/** The hour at which a morning begins. */
const MORNING = 8;

/** The name of each level. */
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
    $("#mute-error").textContent = "";
    form.onchange = () => (end.disabled = fields.level.value === "all");
    form.onchange(new Event("change"));
    onSend(dialog, async () => {
        const level = /** @type {keyof typeof LEVELS} */ (fields.level.value);
        const until = level === "all" ? undefined : end.value in ENDS ? ENDS[end.value]() : end.value;
        await notify.set(room, { level, until, room_mentions });
    });
    dialog.showModal();
}

// The menu of a message: reactions, and what can be done with it. It opens beside the pointer; on a phone it is a sheet at the lower edge

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
    dialog.onkeydown = (event) => (event.key === "Tab" ? dialog.close() : moveFocus(dialog, event));
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

// Lists of messages beside the timeline: the bar of pinned messages, and a dialog

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

/**
 * Creates the button of a message in a list. It closes its dialog.
 *
 * @param {Message} message
 * @param {(string | Node)[]} text
 * @param {string} about A line of text below the message's.
 * @param {(message: Message) => void} go
 */
export function found(message, text, about, go) {
    const { sender } = message;
    const button = element("button", { type: "button", class: "found" }, avatar(sender),
        element("span", { class: "who" }, element("b", { dir: "auto" }, nameOf(sender)), element("span", { dir: "auto" }, ...text), element("small", {}, about)));
    button.onclick = () => {
        button.closest("dialog")?.close();
        go(message);
    };
    return button;
}

/** @param {List} list */
export function drawMessages({ title, empty, messages, isFolded, about, go, unpin, more }) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const [place, hadFocus] = [focused?.closest("li")?.dataset.place, focused?.closest("#found") != null];
    $("#messages-title").textContent = title;
    $("#found").replaceChildren(...messages.map((message) => {
        const text = isFolded(message) ? BLOCKED_TEXT : summary(message);
        const remove = unpin ? element("button", { type: "button", "aria-label": texts.unpinOf(`${nameOf(message.sender)}: ${text}`) }, texts.unpin) : null;
        if (remove) remove.onclick = () => unpin?.(message);
        return element("li", { "data-place": `${message.room}/${message.seq}` }, found(message, [text], about(message), go), remove);
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

// The search for messages, in the open room or in all rooms of the user

/** Number of units of UTF-16 that are shown of a text before the first word that was found, and in all. */
const [BEFORE, SHOWN] = [40, 160];
/** Maximum number of pages without hits that are passed over at once. */
const EMPTY_PAGES = 5;

/**
 * @typedef {object} Host
 * @property {() => import("./client/index.js").Client | null} client
 * @property {() => string | null} room The open room.
 * @property {(room: string) => string} roomName
 * @property {(message: Message) => boolean} isFolded
 * @property {(message: Message) => void} go Called with the message that the user chooses. The dialog is closed.
 */

/**
 * Returns the part of a text with the words that were found, which are marked.
 *
 * @param {string} text
 * @param {number[][]} highlights
 */
function excerpt(text, highlights) {
    // Formatting moves the places, so they are marked in the text first.
    const places = highlights.flat();
    const [before, ...parts] = plain([0, ...places].map((place, index) => text.slice(place, places[index])).join(SPLIT)).split(SPLIT);
    let start = Math.max(0, before.length - BEFORE);
    // Not in the middle of a character of two units.
    if (before.charCodeAt(start) >> 10 === 0x37) start--;
    let left = SHOWN - before.length + start;
    return [start ? "…" : "", before.slice(start), ...parts.flatMap((part, index) => {
        if (left < 0) return [];
        const shown = cut(part, left);
        left -= part.length;
        return index % 2 ? shown : element("mark", {}, shown);
    })];
}

/** @param {Host} host */
export function wireSearch({ client, room, roomName, isFolded, go }) {
    const dialog = /** @type {HTMLDialogElement} */ ($("#search-dialog"));
    const [words, here] = ["#search-words", "#search-here"].map((selector) => /** @type {HTMLInputElement} */ ($(selector)));
    const [list, more, state, problem] = ["#search-hits", "#search-more", "#search-state", "#search-error"].map($);
    /** @type {{client: import("./client/index.js").Client | null, words?: string, room?: string, cursor?: string}} What is searched. */
    let current = { client: null };

    /** @param {boolean} isHere */
    function open(isHere) {
        if (!client() || document.querySelector("dialog[open]")) return;
        if (current.client !== client()) clear();
        $("#search-in").hidden = room() === null;
        here.checked = isHere && room() !== null;
        dialog.showModal();
        words.select();
    }

    function clear() {
        current = { client: client() };
        list.replaceChildren();
        tell("", "", false);
    }

    /**
     * @param {string} text
     * @param {string} error
     * @param {boolean} hasMore
     */
    function tell(text, error, hasMore) {
        [state.textContent, problem.textContent, more.hidden] = [text, error, !hasMore];
    }

    async function load() {
        const own = current;
        if (!own.client || !own.words) return;
        const before = list.childElementCount;
        tell(texts.loading, "", false);
        try {
            for (let empty = 0; ; empty++) {
                const { value: page } = await search(own.client, own.words, { room: own.room, cursor: own.cursor }).next();
                if (own !== current || !page) return;
                own.cursor = page.cursor;
                list.append(...page.hits.map(item));
                tell(page.indexedTo ? texts.indexing : list.childElementCount || page.hasMore ? "" : texts.noHits, "", page.hasMore);
                if (page.hits.length || !page.hasMore || empty === EMPTY_PAGES) break;
            }
            list.children[before]?.querySelector("button")?.focus();
        } catch (error) {
            if (own === current) tell("", problemText(error), before > 0);
        }
    }

    /** @param {import("./client/search.js").SearchHit} hit */
    function item({ message, highlights }) {
        const text = isFolded(message) ? [BLOCKED_TEXT] : excerpt(message.text ?? "", highlights);
        return element("li", {}, found(message, text, `${dayText(midnight(new Date(message.created_at)))} · ${roomName(message.room ?? "")}`, go));
    }

    $("#search-dialog form").onsubmit = (event) => {
        event.preventDefault();
        clear();
        current.words = words.value.trim();
        if (here.checked) current.room = room() ?? undefined;
        load();
    };
    more.onclick = load;
    dialog.onkeydown = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const stops = [words, ...list.querySelectorAll("button")];
        const stop = stops.indexOf(/** @type {HTMLInputElement} */ (event.target));
        if (!step || stop < 0 || event.isComposing) return;
        event.preventDefault();
        stops[stop + step]?.focus();
    };
    $("#search").onclick = () => open(false);
    $("#search-room").onclick = () => open(true);
    document.addEventListener("keydown", (event) => {
        const { key, code, ctrlKey, metaKey, shiftKey, altKey, target, isComposing } = event;
        // By its place, too, since a Korean keyboard has another letter there.
        const isShortcut = (ctrlKey || metaKey) && !shiftKey && (key.toLowerCase() === "k" || code === "KeyK");
        const isSlash = key === "/" && !ctrlKey && !metaKey && !(/** @type {Element} */ (target).closest("input, textarea, select"));
        if (isComposing || altKey || !(isShortcut || isSlash)) return;
        event.preventDefault();
        open(true);
    });
}

// Pictures, large, one at a time. Arrow keys, buttons and a swipe go to the next one; pinching, a double click and the keys + and -
// zoom; Escape, a swipe down and a click beside the picture close it.

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

/**
 * The composer: writes a message, a reply, or an edit of an own message, and completes names after `@`.
 *
 * @module composer
 */

import { avatar, mentionOf, nameOf } from "./people.js";
import { $, byteLength, element, isBlank, numberText, pictureURL, summary, withoutLineFeeds } from "./text.js";
import { texts } from "./texts.js";

/** Maximum time to wait for the size of a picture, in milliseconds. */
const PICTURE_MILLISECONDS = 15000;
/** Maximum time to show an error, in milliseconds. */
const ERROR_MILLISECONDS = 5000;
/** The server's bounds: the text of a message and the address of an attachment, in bytes, and the number of attachments. */
const TEXT_BYTES = 16384;
const ADDRESS_BYTES = 2048;
const MAXIMUM_ATTACHMENTS = 10;
/** Number of bytes left from which on they are shown. */
const SHOWN_BYTES = 1000;
/** A text with this has something to read. The server refuses others. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/**
 * @typedef {import("./client/index.js").Message} Message
 * @typedef {import("./client/index.js").Draft} Draft
 *
 * @typedef {Pick<Message, "seq" | "sender"> & Partial<Message>} Quoted A message that is replied to, or what is known of it.
 *
 * @typedef {{reply?: Quoted, edit?: Message, picture?: true}} Context What the composer writes: with one of the three.
 */

/**
 * The size of a picture at an address.
 *
 * @param {string} url
 * @returns {Promise<{width: number, height: number}>}
 */
function sizeOf(url) {
    return new Promise((resolve, reject) => {
        const image = new Image();
        const timer = setTimeout(() => reject(new Error(texts.pictureLate)), PICTURE_MILLISECONDS);
        image.referrerPolicy = "no-referrer";
        image.onload = () => {
            clearTimeout(timer);
            const { naturalWidth: width, naturalHeight: height } = image;
            // Drawings without a size of their own have none in some browsers.
            if (width && height) resolve({ width, height });
            else reject(new Error(texts.pictureSize));
        };
        image.onerror = () => {
            clearTimeout(timer);
            reject(new Error(texts.pictureBroken));
        };
        image.src = url;
    });
}

/**
 * Returns the text to send, without the space around it.
 *
 * @param {string} text
 */
const sent = (text) => (VISIBLE.test(text) ? withoutLineFeeds(text).trimEnd() : "");

export class Composer {
    #input = /** @type {HTMLTextAreaElement} */ ($("[data-composer]"));
    #handlers;
    /** @type {Completion} */
    #completion;
    #abort = new AbortController();
    /** @type {Context | null} */
    #context = null;
    /** @type {Context | null} The context to which the composer returns from an edit, as it returns to the unsent text. */
    #before = null;
    /** @type {import("./client/index.js").Attachment[]} The pictures of the message that is being written. An edit leaves them. */
    #attachments = [];
    /** True while a part of the text itself is dragged. The browser then moves it. */
    #isDragging = false;
    /** @type {number | undefined} */
    #errorTimer = undefined;
    #me;
    #room;

    /**
     * @param {string} me The user, who with the room identifies the stored text.
     * @param {string} room
     * @param {{send: (draft: Draft) => void, edit: (message: Message, text: string, mentions: string[]) => void, type: () => void, editLast: () => void,
     *   users: () => Promise<string[]>}} handlers `users` returns the users that may be named.
     */
    constructor(me, room, handlers) {
        this.#me = me;
        this.#room = room;
        this.#handlers = handlers;
        const options = { signal: this.#abort.signal };
        this.#completion = new Completion(this.#input, () => handlers.users(), (start, name) => {
            this.#input.setSelectionRange(start, this.#input.selectionStart);
            this.#insert(`${name} `);
        });
        this.#input.value = "";
        this.#setContext(null);
        this.#input.value = this.#draft;
        this.#input.addEventListener("blur", () => this.#completion.close(), options);
        this.#input.addEventListener("keydown", (event) => this.#keyPressed(event), options);
        this.#input.addEventListener("input", () => this.#typed(), options);
        this.#input.addEventListener("paste", (event) => this.#dropped(event, event.clipboardData), options);
        this.#input.addEventListener("dragstart", () => (this.#isDragging = true), options);
        this.#input.addEventListener("dragend", () => (this.#isDragging = false), options);
        document.addEventListener("dragover", (event) => this.#isForBrowser(event) || event.preventDefault(), options);
        document.addEventListener("drop", (event) => this.#isForBrowser(event) || this.#dropped(event, event.dataTransfer), options);
        $("#composer").addEventListener("submit", (event) => this.#submit(event), options);
        $("#context-end").addEventListener("click", () => this.#setContext(null), options);
        this.#resize();
    }

    close() {
        this.#abort.abort();
        this.#completion.close();
        clearTimeout(this.#errorTimer);
    }

    focus() {
        this.#input.focus();
    }

    /** @param {Message} message */
    reply(message) {
        this.#setContext({ reply: message });
        this.focus();
    }

    /**
     * Shows the message that is being replied to as it is now.
     *
     * @param {Message} message
     */
    refresh(message) {
        const reply = this.#context?.reply;
        if (reply?.rev !== undefined && reply.seq === message.seq && reply.rev < message.rev) this.#setContext({ reply: message });
    }

    /** @param {Message} message */
    edit(message, text = message.text ?? "") {
        if (!this.#context?.edit) this.#before = this.#context;
        this.#setContext({ edit: message });
        this.#input.value = text;
        this.#resize();
        this.focus();
    }

    /**
     * Takes back a message that was not sent, in front of what is written already.
     *
     * @param {Draft} draft
     * @param {Quoted} [reply] The message that it replies to.
     */
    restore(draft, reply) {
        if (this.#context?.edit) this.#setContext(null);
        this.#attachments = [...(draft.attachments ?? []), ...this.#attachments].slice(0, MAXIMUM_ATTACHMENTS);
        this.#input.value = [draft.text, this.#input.value].filter(Boolean).join("\n");
        this.#keepDraft();
        this.#setContext(reply ? { reply } : this.#context ?? (this.#attachments.length ? { picture: true } : null));
        this.focus();
    }

    /** @param {string} text */
    showError(text) {
        this.#show(element("span", { class: "error", role: "alert" }, text));
    }

    /**
     * Sets the text that the empty field has.
     *
     * @param {string} text
     */
    setPlaceholder(text) {
        if (this.#input.placeholder !== text) this.#input.placeholder = text;
    }

    /** @param {string} text */
    showNotice(text) {
        this.#show(element("span", { role: "status" }, text));
    }

    /** @param {HTMLElement} node */
    #show(node) {
        $("#context").hidden = false;
        $("#context-text").replaceChildren(node);
        clearTimeout(this.#errorTimer);
        this.#errorTimer = setTimeout(() => this.#setContext(this.#context), ERROR_MILLISECONDS);
    }

    /** @param {Context | null} context */
    #setContext(context) {
        if (this.#context?.edit && context === null) {
            this.#input.value = this.#draft;
            context = this.#before ?? (this.#attachments.length ? { picture: true } : null);
            this.#before = null;
        } else if (context === null) {
            this.#attachments = [];
        }
        this.#context = context;
        const edited = context?.edit;
        const message = context?.reply ?? edited;
        const attachments = edited ? [] : this.#attachments;
        $("#context").hidden = !message && !attachments.length;
        const parts = [];
        if (message) parts.push(element("b", {}, ...(edited ? [texts.editMessage] : [texts.replyTo[0], element("bdi", {}, nameOf(message.sender)), texts.replyTo[1]])),
            element("span", { dir: "auto" }, summary(message)));
        for (const { url } of attachments) parts.push(element("b", {}, texts.picture), element("span", { dir: "ltr" }, url));
        $("#context-text").replaceChildren(...parts);
        this.#resize();
    }

    /** @param {KeyboardEvent} event */
    #keyPressed(event) {
        // Keys that belong to a composition, for example of Korean. WebKit ends it before the key that ended it: only the key code,
        // which stands for input that is being processed, then tells.
        if (event.isComposing || event.keyCode === 229) return;
        if (!event.shiftKey && this.#completion.take(event.key)) return event.preventDefault();
        if (event.key === "Escape" && this.#context) {
            this.#setContext(null);
        } else if (event.key === "ArrowUp" && !this.#input.value && !this.#context) {
            event.preventDefault();
            this.#handlers.editLast();
        } else if (event.key === "Enter" && !event.shiftKey && (event.ctrlKey || event.metaKey || !matchMedia("(pointer: coarse)").matches)) {
            this.#submit(event);
        }
    }

    #typed() {
        this.#resize();
        this.#completion.update();
        if (!this.#context?.edit) this.#keepDraft();
        if (this.#input.value && !this.#context?.edit) this.#handlers.type();
    }

    get #draft() {
        return draftOf(this.#me, this.#room);
    }

    /** Stores the unsent text. It is restored when the reader returns to the room, also in another window. */
    #keepDraft() {
        keepDraft(this.#me, this.#room, this.#input.value);
    }

    /** Makes the input as high as its text. The style sheet limits it to a third of the screen. */
    #resize() {
        this.#showLeft();
        this.#input.style.height = "auto";
        // An empty input has one row. Measuring it would cost one more layout of the page.
        if (!this.#input.value) return;
        const { clientHeight, offsetHeight, scrollHeight } = this.#input;
        this.#input.style.height = `${scrollHeight + offsetHeight - clientHeight}px`;
    }

    /** Number of bytes that the text may still have. */
    get #bytesLeft() {
        // No text of so few units has more bytes.
        if (this.#input.value.length * 3 < TEXT_BYTES - SHOWN_BYTES) return TEXT_BYTES;
        return TEXT_BYTES - byteLength(sent(this.#input.value));
    }

    /** Shows how much can still be written once that is little. */
    #showLeft() {
        const left = this.#bytesLeft;
        const shown = $("#left");
        const text = left > SHOWN_BYTES ? "" : left < 0 ? texts.tooLong(numberText(-left)) : texts.bytesLeft(numberText(left));
        if (shown.textContent !== text) shown.textContent = text;
        shown.classList.toggle("error", left < 0);
        if (left < 0) this.#input.setAttribute("aria-invalid", "true");
        else this.#input.removeAttribute("aria-invalid");
    }

    /** @param {Event} event */
    #submit(event) {
        event.preventDefault();
        if (this.#bytesLeft < 0) return;
        const text = sent(this.#input.value);
        const context = this.#context;
        if (context?.edit) {
            if (isBlank(text) && !context.edit.attachments?.length) return;
            const before = (context.edit.mentions ?? []).flatMap((user) => [[mentionOf(user), user], [user, user]]);
            const known = new Map([.../** @type {[string, string][]} */ (before), ...this.#completion.known]);
            if (text !== context.edit.text) this.#handlers.edit(context.edit, text, mentioned(text, known));
        } else {
            if (isBlank(text) && !this.#attachments.length) return;
            /** @type {Draft} */
            const draft = { client_message_id: crypto.randomUUID?.() ?? String(Math.random()).slice(2) + Date.now() };
            if (text) draft.text = text;
            if (this.#attachments.length) draft.attachments = this.#attachments;
            if (context?.reply) draft.reply_to = context.reply.seq;
            const mentions = mentioned(text, this.#completion.known);
            if (mentions.length) draft.mentions = mentions;
            this.#handlers.send(draft);
        }
        if (!context?.edit) {
            this.#input.value = "";
            this.#keepDraft();
        }
        this.#completion.close();
        this.#setContext(null);
        this.focus();
    }

    /**
     * Returns true for text that is dropped into another field of the page, or moved within this one.
     *
     * @param {DragEvent} event
     */
    #isForBrowser({ target, dataTransfer }) {
        // The browser would open files in place of the page.
        if (dataTransfer?.types.includes("Files")) return false;
        return target === this.#input ? this.#isDragging : target instanceof Element && target.matches("input, textarea");
    }

    /**
     * Takes what is pasted or dropped. The address of a picture, alone, becomes an attachment with the picture's size. Other texts
     * are inserted, and files are refused with the reason.
     *
     * @param {ClipboardEvent | DragEvent} event
     * @param {DataTransfer | null} data
     */
    async #dropped(event, data) {
        const text = data?.getData("text/plain") || data?.getData("text/uri-list")?.split(/\r?\n/)[0] || "";
        if (!text && data?.files.length) {
            event.preventDefault();
            return this.showError(texts.noFiles);
        }
        // An edit changes the text only.
        const url = this.#context?.edit ? null : pictureURL(text);
        const isPicture = url !== null && byteLength(url) <= ADDRESS_BYTES && this.#attachments.length < MAXIMUM_ATTACHMENTS;
        if (event.type === "drop" || isPicture) event.preventDefault();
        if (!isPicture) return event instanceof DragEvent ? this.#insert(text, event) : undefined;
        try {
            const size = await sizeOf(url);
            if (this.#abort.signal.aborted) return;
            this.#attachments.push({ type: "image", url, ...size });
            this.#setContext(this.#context ?? { picture: true });
        } catch (error) {
            if (this.#abort.signal.aborted) return;
            this.#insert(text);
            this.showError(/** @type {Error} */ (error).message);
        }
    }

    /**
     * Inserts a text where it is dropped, or else at the caret, in a way that the browser can undo.
     *
     * @param {string} text
     * @param {{clientX?: number, clientY?: number}} place
     */
    #insert(text, { clientX, clientY } = {}) {
        if (!text) return;
        this.focus();
        const dropped = clientX === undefined || clientY === undefined ? null : document.caretPositionFromPoint?.(clientX, clientY);
        if (dropped && dropped.offsetNode === this.#input) this.#input.setSelectionRange(dropped.offset, dropped.offset);
        // The browser's own command keeps the history of changes. Nothing else does.
        if (!document.execCommand("insertText", false, text)) {
            this.#input.setRangeText(text, this.#input.selectionStart, this.#input.selectionEnd, "end");
            this.#typed();
        }
    }
}

// The completion of names after `@`

/** Maximum number of names to offer. */
const MAXIMUM_OFFERED = 6;
/** An `@` at the beginning or after a space or bracket, and what follows it up to the caret. */
const QUERY = /(?:^|[\s([{"'])@([^\s@]{0,64})$/u;
/** Hangul syllables are arranged by initial consonant, vowel and final consonant. */
const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
const FINALS = 28;
const SYLLABLES_OF_INITIAL = 21 * FINALS;
/** The initial consonants as they are typed, in the order of the syllables. */
const INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";

/**
 * Returns true if a character may be the beginning of another one while it is being typed: `ㄱ` and `기` of `김`.
 *
 * @param {string} typed
 * @param {string} character
 */
function begins(typed, character) {
    if (typed === character) return true;
    const code = character.charCodeAt(0);
    if (code < FIRST_SYLLABLE || code > LAST_SYLLABLE) return false;
    const offset = code - FIRST_SYLLABLE;
    if (INITIALS[Math.floor(offset / SYLLABLES_OF_INITIAL)] === typed) return true;
    // A syllable without a final consonant, which may still follow.
    return typed.charCodeAt(0) === code - (offset % FINALS);
}

/** @param {string} text */
const normal = (text) => text.normalize("NFC").toLocaleLowerCase();

/**
 * Returns true if a word of a name begins with what is typed.
 *
 * @param {string} name
 * @param {string} typed
 */
export function matches(name, typed) {
    const characters = [...normal(typed)];
    const words = normal(name).split(/(?<=[\s._~-])/u);
    return words.some((_, index) => {
        const rest = [...words.slice(index).join("")];
        return characters.every((character, place) => rest[place] !== undefined && begins(character, rest[place]));
    });
}

/** Maximum number of users that a message mentions, which is the server's. */
const MAXIMUM_MENTIONS = 50;
/** The place before a name. */
const MENTION = /(?:^|[\s([{"'])@(?=[^\s@])/gu;
/** The end of a name: the end, a space, or punctuation of the sentence. */
const NAME_END = /^[.,;:!?)\]}"'…。，！？]*(?:[\s@]|$)/u;

/**
 * Returns the users that a text mentions. Of two names that it may have, the longer one counts.
 *
 * @param {string} text
 * @param {ReadonlyMap<string, string>} users The users by what names them.
 */
export function mentioned(text, users) {
    /** @type {Set<string>} */
    const found = new Set();
    const names = [...users.keys()].sort((one, other) => other.length - one.length);
    for (const { 0: before, index = 0 } of text.matchAll(MENTION)) {
        const start = index + before.length;
        const name = names.find((name) => text.startsWith(name, start) && NAME_END.test(text.slice(start + name.length)));
        if (name !== undefined) found.add(/** @type {string} */ (users.get(name)));
    }
    return [...found].slice(0, MAXIMUM_MENTIONS);
}

/** Offers names while one is typed in a text field. */
export class Completion {
    #input;
    #users;
    #onChoose;
    #list = $("#completion");
    /** @type {string[]} */
    #offered = [];
    #chosen = 0;
    /** @type {Map<string, string>} The users that were found so far, whom a message may mention, by what names them. */
    known = new Map();
    /** The number of the latest request for users. */
    #request = 0;

    /**
     * @param {HTMLTextAreaElement} input
     * @param {() => Promise<string[]>} users Returns the users whose names may be completed, best first.
     * @param {(start: number, name: string) => void} onChoose Called with a name that takes the place of the text from `start` to the caret.
     */
    constructor(input, users, onChoose) {
        this.#input = input;
        this.#users = users;
        this.#onChoose = onChoose;
        // The focus stays in the text field.
        this.#list.onpointerdown = (event) => event.preventDefault();
        this.#list.onclick = ({ target }) => {
            const option = target instanceof Element ? target.closest("li") : null;
            if (option) this.#choose([...this.#list.children].indexOf(option));
        };
        this.close();
    }

    /** Closes the list. */
    close() {
        this.#request++;
        this.#offered = [];
        this.#list.hidden = true;
        this.#input.removeAttribute("aria-activedescendant");
    }

    /** Offers names for the text before the caret. */
    async update() {
        const query = this.#query;
        if (query === undefined) return this.close();
        const request = ++this.#request;
        const users = await this.#users().catch(() => []);
        this.#learn(users);
        if (request !== this.#request) return;
        this.#offered = users.filter((user) => matches(nameOf(user), query) || matches(user, query)).slice(0, MAXIMUM_OFFERED);
        this.#chosen = 0;
        // A name that is complete needs no more keys.
        const isComplete = this.#offered.length === 1 && this.#textOf(this.#offered[0]) === query;
        if (this.#offered.length && !isComplete) this.#draw();
        else this.close();
    }

    /** @param {string[]} users */
    #learn(users) {
        for (const user of users) this.known.set(user, user);
        for (const user of users) if (!this.known.has(mentionOf(user))) this.known.set(mentionOf(user), user);
    }

    /**
     * The name of a user in the text: the id if the name is another user's.
     *
     * @param {string} user
     */
    #textOf(user) {
        return this.known.get(mentionOf(user)) === user ? mentionOf(user) : user;
    }

    /**
     * Handles a key of the text field. Returns true if it was for the list.
     *
     * @param {string} key
     */
    take(key) {
        if (!this.#offered.length) return false;
        const count = this.#offered.length;
        if (key === "Enter" || key === "Tab") this.#choose(this.#chosen);
        else if (key === "Escape") this.close();
        else if (key === "ArrowDown") this.#chosen = (this.#chosen + 1) % count;
        else if (key === "ArrowUp") this.#chosen = (this.#chosen + count - 1) % count;
        else return false;
        if (this.#offered.length) this.#draw();
        return true;
    }

    /** The text after the `@` before the caret; undefined if there is none. */
    get #query() {
        const { value, selectionStart, selectionEnd } = this.#input;
        if (selectionStart !== selectionEnd) return undefined;
        return QUERY.exec(value.slice(0, selectionStart))?.[1];
    }

    /** @param {number} index */
    #choose(index) {
        const [user, query] = [this.#offered[index], this.#query];
        this.close();
        if (user !== undefined && query !== undefined) this.#onChoose(this.#input.selectionStart - query.length, this.#textOf(user));
    }

    #draw() {
        this.#list.replaceChildren(...this.#offered.map((user, index) => element("li", {
            id: `completion-${index}`, role: "option", "aria-selected": String(index === this.#chosen),
        }, avatar(user), element("span", { dir: "auto" }, nameOf(user)), nameOf(user) === user ? null : element("small", {}, user))));
        this.#list.hidden = false;
        this.#input.setAttribute("aria-activedescendant", `completion-${this.#chosen}`);
    }
}

// The unsent texts of rooms, which the browser keeps

/** Maximum number of texts, and of their units of UTF-16 together. The oldest ones are forgotten first. */
const MAXIMUM_DRAFTS = 50;
const MAXIMUM_LENGTH = 200_000;
const KEY = "backscroll.drafts";

/** @type {Map<string, string>} The texts by user and room, the latest last. They stay here if the browser blocks site data. */
let drafts = new Map();

/** Reads what this window or another one has stored. */
function read() {
    try {
        const stored = localStorage.getItem(KEY);
        drafts = new Map(stored === null ? [] : JSON.parse(stored));
    } catch {
        // The present texts last until the page is closed.
    }
}

/**
 * Calls a function when another window has changed a text.
 *
 * @param {() => void} onChange
 */
export function watchDrafts(onChange) {
    read();
    window.addEventListener("storage", ({ key }) => {
        if (key !== KEY && key !== null) return;
        read();
        onChange();
    });
}

/**
 * The unsent text of a room; empty if there is none.
 *
 * @param {string} user
 * @param {string} room
 */
export const draftOf = (user, room) => drafts.get(`${user}/${room}`) ?? "";

/**
 * Keeps the unsent text of a room. An empty one is forgotten.
 *
 * @param {string} user
 * @param {string} room
 * @param {string} text
 */
export function keepDraft(user, room, text) {
    read();
    const place = `${user}/${room}`;
    if (!text && !drafts.has(place)) return;
    drafts.delete(place);
    if (text) drafts.set(place, text);
    let length = [...drafts.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest, { length: less }] of drafts) {
        if (drafts.size <= MAXIMUM_DRAFTS && length <= MAXIMUM_LENGTH) break;
        drafts.delete(oldest);
        length -= less;
    }
    try {
        localStorage.setItem(KEY, JSON.stringify([...drafts]));
    } catch {
        // The text lasts until the page is closed.
    }
}

/**
 * The composer: writes a message, a reply, or an edit of an own message.
 *
 * @module composer
 */

import { element, pictureURL, summary } from "./text.js";

/** Maximum time to wait for the size of a picture, in milliseconds. */
const PICTURE_MILLISECONDS = 15000;

const $ = (selector) => document.querySelector(selector);

/** The size of a picture at an address. */
function sizeOf(url) {
    return new Promise((resolve, reject) => {
        const image = new Image();
        const timer = setTimeout(() => reject(new Error("The picture does not load.")), PICTURE_MILLISECONDS);
        image.referrerPolicy = "no-referrer";
        image.onload = () => {
            clearTimeout(timer);
            resolve({ width: image.naturalWidth, height: image.naturalHeight });
        };
        image.onerror = () => {
            clearTimeout(timer);
            reject(new Error("The picture cannot be loaded."));
        };
        image.src = url;
    });
}

export class Composer {
    #input = $("[data-composer]");
    #handlers;
    #abort = new AbortController();
    /** @type {{reply: object} | {edit: object} | null} */
    #context = null;
    /** @type {object[]} */
    #attachments = [];
    #errorTimer = 0;
    /** The key of the unsent text in the session storage. */
    #draftKey;

    /**
     * @param {string} place The user and the room, which identify the stored text.
     * @param {{send: (draft: object) => void, edit: (message: object, text: string) => void, type: () => void, editLast: () => void}} handlers
     */
    constructor(place, handlers) {
        this.#handlers = handlers;
        this.#draftKey = `backscroll.draft.${place}`;
        const options = { signal: this.#abort.signal };
        this.#input.value = "";
        this.#setContext(null);
        this.#input.value = this.#draft;
        this.#input.addEventListener("keydown", (event) => this.#keyPressed(event), options);
        this.#input.addEventListener("input", () => this.#typed(), options);
        this.#input.addEventListener("paste", (event) => this.#dropped(event, event.clipboardData), options);
        const screen = $("#screen");
        screen.addEventListener("dragover", (event) => event.preventDefault(), options);
        screen.addEventListener("drop", (event) => this.#dropped(event, event.dataTransfer), options);
        $("#composer").addEventListener("submit", (event) => this.#submit(event), options);
        $("#context-end").addEventListener("click", () => this.#setContext(null), options);
        this.#resize();
    }

    close() {
        this.#abort.abort();
        clearTimeout(this.#errorTimer);
    }

    focus() {
        this.#input.focus();
    }

    reply(message) {
        this.#setContext({ reply: message });
        this.focus();
    }

    edit(message, text = message.text ?? "") {
        this.#setContext({ edit: message });
        this.#input.value = text;
        this.#resize();
        this.focus();
    }

    showError(text) {
        const shown = $("#context-text");
        $("#context").hidden = false;
        shown.replaceChildren(element("span", { class: "error", role: "alert" }, text));
        clearTimeout(this.#errorTimer);
        this.#errorTimer = setTimeout(() => this.#setContext(this.#context), 5000);
    }

    #setContext(context) {
        if (this.#context?.edit && context === null) this.#input.value = this.#draft;
        this.#context = context;
        if (context === null) this.#attachments = [];
        const message = context?.reply ?? context?.edit;
        $("#context").hidden = !message && !this.#attachments.length;
        const parts = [];
        if (message) parts.push(element("b", { dir: "auto" }, context.edit ? "Edit your message" : `Reply to ${message.sender}`),
            element("span", { dir: "auto" }, summary(message)));
        for (const { url } of this.#attachments) parts.push(element("b", {}, "Picture"), element("span", {}, url));
        $("#context-text").replaceChildren(...parts);
        this.#resize();
    }

    #keyPressed(event) {
        if (event.key === "Escape" && this.#context) {
            this.#setContext(null);
        } else if (event.key === "ArrowUp" && !this.#input.value && !this.#context) {
            event.preventDefault();
            this.#handlers.editLast();
        } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            this.#submit(event);
        }
    }

    #typed() {
        this.#resize();
        if (!this.#context?.edit) this.#keepDraft();
        if (this.#input.value && !this.#context?.edit) this.#handlers.type();
    }

    get #draft() {
        return sessionStorage.getItem(this.#draftKey) ?? "";
    }

    /** Stores the unsent text. It is restored when the reader returns to the room or reloads the page. */
    #keepDraft() {
        if (this.#input.value) sessionStorage.setItem(this.#draftKey, this.#input.value);
        else sessionStorage.removeItem(this.#draftKey);
    }

    /** Makes the input as high as its text. The style sheet limits it to a third of the screen. */
    #resize() {
        this.#input.style.height = "auto";
        // An empty input has one row. Measuring it would cost one more layout of the page.
        if (!this.#input.value) return;
        const borders = this.#input.offsetHeight - this.#input.clientHeight;
        this.#input.style.height = `${this.#input.scrollHeight + borders}px`;
    }

    #submit(event) {
        event.preventDefault();
        const text = this.#input.value.replace(/^\n+|\s+$/g, "");
        const context = this.#context;
        if (context?.edit) {
            if (!text && !context.edit.attachments?.length) return;
            if (text !== context.edit.text) this.#handlers.edit(context.edit, text);
        } else {
            if (!text && !this.#attachments.length) return;
            const draft = { client_message_id: crypto.randomUUID?.() ?? String(Math.random()).slice(2) + Date.now() };
            if (text) draft.text = text;
            if (this.#attachments.length) draft.attachments = this.#attachments;
            if (context?.reply) draft.reply_to = context.reply.seq;
            this.#handlers.send(draft);
        }
        this.#input.value = "";
        if (context?.edit) this.#input.value = this.#draft;
        else this.#keepDraft();
        this.#attachments = [];
        this.#context = null;
        this.#setContext(null);
        this.focus();
    }

    /** Turns the address of a picture, pasted or dropped alone, into an attachment with the picture's size. */
    async #dropped(event, data) {
        const text = data?.getData("text/uri-list")?.split("\n")[0] || data?.getData("text/plain") || "";
        const url = pictureURL(text);
        if (event.type === "drop") event.preventDefault();
        if (!url) return;
        event.preventDefault();
        try {
            const size = await sizeOf(url);
            if (this.#abort.signal.aborted) return;
            this.#attachments.push({ type: "image", url, ...size });
            this.#setContext(this.#context ?? { picture: true });
        } catch (error) {
            this.#input.setRangeText(text, this.#input.selectionStart, this.#input.selectionEnd, "end");
            this.showError(error.message);
        }
    }
}

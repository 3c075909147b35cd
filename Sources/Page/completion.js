/**
 * The completion of names after `@` in the composer.
 *
 * @module completion
 */

import { $, avatar, element } from "./text.js";

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
/** An `@` and what may be a name, perhaps with punctuation of the sentence behind it. */
const MENTION = /(?:^|[\s([{"'])@([^\s@]+)/gu;
/** The punctuation at the end of a name that belongs to it only if there is a user of that name. */
const PUNCTUATION = /[.,;:!?)\]}"'…。，！？]$/u;

/**
 * Returns the names that a text mentions.
 *
 * @param {string} text
 * @param {ReadonlySet<string>} names The names that there are.
 */
export function mentioned(text, names) {
    /** @type {Set<string>} */
    const found = new Set();
    for (const [, word] of text.matchAll(MENTION)) {
        let name = word;
        while (!names.has(name) && PUNCTUATION.test(name)) name = name.slice(0, -1);
        if (names.has(name)) found.add(name);
    }
    return [...found].slice(0, MAXIMUM_MENTIONS);
}

/** Offers names while one is typed in a text field. */
export class Completion {
    #input;
    #names;
    #onChoose;
    #list = $("#completion");
    /** @type {string[]} */
    #offered = [];
    #chosen = 0;
    /** @type {Set<string>} The names that were found so far, which a message may mention. */
    known = new Set();
    /** The number of the latest request for names. */
    #request = 0;

    /**
     * @param {HTMLTextAreaElement} input
     * @param {() => Promise<string[]>} names Returns the names that may be completed, best first.
     * @param {(start: number, name: string) => void} onChoose Called with a name that takes the place of the text from `start` to the caret.
     */
    constructor(input, names, onChoose) {
        this.#input = input;
        this.#names = names;
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
        const names = await this.#names().catch(() => []);
        for (const name of names) this.known.add(name);
        if (request !== this.#request) return;
        this.#offered = names.filter((name) => matches(name, query)).slice(0, MAXIMUM_OFFERED);
        this.#chosen = 0;
        // A name that is complete needs no more keys.
        const isComplete = this.#offered.length === 1 && this.#offered[0] === query;
        if (this.#offered.length && !isComplete) this.#draw();
        else this.close();
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

    /** What is typed after the `@` before the caret; undefined if there is none. */
    get #query() {
        const { value, selectionStart, selectionEnd } = this.#input;
        if (selectionStart !== selectionEnd) return undefined;
        return QUERY.exec(value.slice(0, selectionStart))?.[1];
    }

    /** @param {number} index */
    #choose(index) {
        const [name, query] = [this.#offered[index], this.#query];
        this.close();
        if (name !== undefined && query !== undefined) this.#onChoose(this.#input.selectionStart - query.length, name);
    }

    #draw() {
        this.#list.replaceChildren(...this.#offered.map((name, index) => element("li", {
            id: `completion-${index}`, role: "option", "aria-selected": String(index === this.#chosen),
        }, avatar(name), element("span", { dir: "auto" }, name))));
        this.#list.hidden = false;
        this.#input.setAttribute("aria-activedescendant", `completion-${this.#chosen}`);
    }
}

/**
 * The completion of names after `@` in the composer.
 *
 * @module completion
 */

import { avatar, mentionOf, nameOf } from "./people.js";
import { $, element } from "./text.js";

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
/** What follows a name: the end, a space, or punctuation of the sentence. */
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
     * What names a user in the text: the id if the name is another user's.
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

    /** What is typed after the `@` before the caret; undefined if there is none. */
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

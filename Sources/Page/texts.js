/**
 * The texts of the interface in the reader's language. The document lists the files of the languages.
 *
 * @module texts
 */

import { kept } from "./session.js";

const KEY = "backscroll.language";

/** @typedef {typeof import("./text-en.js").default} Texts */

/** @type {Texts} They are there before other modules run. */
export let texts;
/** The tag of the language, with the reader's region if the browser tells it: for times and numbers. */
export let locale = "en";

/** The attributes of the document that name a text, and those of the element that get it. */
const ATTRIBUTES = Object.entries({ "data-label": ["aria-label"], "data-title": ["title"], "data-name": ["title", "aria-label"], "data-hint": ["placeholder"] });

/** @param {string} tag */
const languageOf = (tag) => tag.toLowerCase().split("-")[0];

/** The links of the document to the files of the languages, the default first. */
export const languages = () => /** @type {HTMLLinkElement[]} */ ([...document.querySelectorAll("link[hreflang]")]);

/**
 * Chooses another language from now on.
 *
 * @param {string} language
 */
export function setLanguage(language) {
    kept.set(KEY, language);
    location.reload();
}

/** Loads the texts of the language that the reader has chosen or the browser prefers, and writes them into the document. */
export async function loadTexts() {
    const files = languages();
    const wanted = [kept.get(KEY) ?? "", ...navigator.languages].map(languageOf);
    const language = wanted.find((tag) => files.some(({ hreflang }) => hreflang === tag)) ?? files[0].hreflang;
    texts = (await import(files.find(({ hreflang }) => hreflang === language)?.href ?? "")).default;
    locale = navigator.languages.find((tag) => languageOf(tag) === language) ?? language;
    document.documentElement.lang = language;
    const textOf = (/** @type {Element} */ node, /** @type {string} */ attribute) =>
        String(texts[/** @type {keyof Texts} */ (node.getAttribute(attribute))]);
    for (const node of document.querySelectorAll("[data-text]")) node.textContent = textOf(node, "data-text");
    for (const [attribute, targets] of ATTRIBUTES) {
        for (const node of document.querySelectorAll(`[${attribute}]`)) for (const target of targets) node.setAttribute(target, textOf(node, attribute));
    }
}

/**
 * What to tell of an error.
 *
 * @param {unknown} error
 */
export function problemText(error) {
    const { code = "", message } = /** @type {import("./client/index.js").ClientError} */ (error);
    // Something in between has answered.
    const isForeign = code === "invalid_answer" || /^http_5/.test(code);
    return code === "banned" ? texts.banned(message) : texts.problems[isForeign ? "unreachable" : code] ?? message;
}

/**
 * Turns users' texts into nodes. Everything is text; only addresses that begin with http or https become links.
 *
 * @module text
 */

import { locale, texts } from "./texts.js";

const CODE_BLOCK = /```(?:[\w+-]*\n)?([\s\S]*?)```/g;
/** Code, an address, and what is bold or in italics. Nothing of these has its own mark within, so that each character is looked at once. */
const INLINE = /`([^`\n]+)`|(https?:\/\/[^\s<>"'`]+)|\*\*([^*\n]+)\*\*|_([^_\n]+)_/gi;
/** A character that no message has: it marks the ends of the words that a search has found. */
export const SPLIT = "\0";
/** A part of a word, or `SPLIT`, which is beside one. */
const WORD = /[\p{L}\p{N}_\0]/u;
/** The beginnings of the lines of a list, with the number in an ordered one, and of a quote. */
const ITEM = /^ {0,3}(?:[-*•]|(\d{1,3})[.)])[ \t]+(?=\S)/;
const QUOTED = /^ {0,3}> +(?=\S)/;
/** The closing characters at the end of an address that belong to it only if it also opens them, each with its opening one. */
const PAIRS = new Map([..."()[]{}（）［］｛｝「」『』【】《》〈〉«»‹›“”‘’"].flatMap((open, index, all) => (index % 2 ? [] : [[all[index + 1], open]])));
/** The other characters at the end of an address that belong to the sentence around it. */
const TRAILING = new Set(".,;:!?'\"…。，、；：！？");
/** The file names of pictures. */
const PICTURE = /\.(?:avif|gif|jpe?g|png|webp)$/i;

/** Maximum length of the first words of a message, in units of UTF-16. */
const SUMMARY_LENGTH = 140;
/** Maximum length of the text of which the first words are taken. */
const LONG = 4 * SUMMARY_LENGTH;
/** The first half of a character of UTF-16, at the end of a text. */
const LAST_HALF = /[\ud800-\udbff]$/;
/** Maximum length of the name of a user, in bytes. */
const NAME_BYTES = 128;

/** @type {Intl.Segmenter | null} */
let segmenter = null;

/** Divides texts into characters as readers see them. */
function characters() {
    segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
    return segmenter;
}

/** @type {Record<"clock" | "exact" | "date" | "weekday", Intl.DateTimeFormat> & {relative: Intl.RelativeTimeFormat} | null} */
let made = null;

/**
 * The formats of times, in the reader's language. Browsers take some 20 milliseconds to create them, so a page should call this
 * first while it waits for the server.
 */
export function formats() {
    made ??= {
        clock: new Intl.DateTimeFormat(locale, { timeStyle: "short" }),
        exact: new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" }),
        date: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }),
        weekday: new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }),
        relative: new Intl.RelativeTimeFormat(locale, { numeric: "auto" }),
    };
    return made;
}

/** Forgets the formats of times, because the device's time zone has changed. */
export function forgetFormats() {
    made = null;
}

/**
 * The text for a number.
 *
 * @param {number} number
 */
export const numberText = (number) => number.toLocaleString(locale);

/**
 * The text for a time of seconds, minutes or an hour.
 *
 * @param {number} seconds
 * @param {"short" | "long"} unitDisplay
 * @param {number} [minimum] The time from which on it is told in minutes.
 */
export function durationText(seconds, unitDisplay, minimum = 60) {
    const [unit, length] = seconds % 3600 === 0 ? ["hour", 3600] : seconds % 60 === 0 && seconds >= minimum ? ["minute", 60] : ["second", 1];
    return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay }).format(seconds / length);
}

/** The number at which the server stops counting unread messages: it means that many or more. */
const UNREAD_CAP = 1000;

/**
 * Returns the text for a number of unread messages.
 *
 * @param {number} count
 */
export function unreadText(count) {
    return count < UNREAD_CAP ? String(count) : `${numberText(UNREAD_CAP)}+`;
}

/**
 * Returns the text for the unread messages of several rooms together.
 *
 * @param {number[]} counts
 */
export function totalUnreadText(counts) {
    const total = counts.reduce((sum, count) => sum + Math.min(count, UNREAD_CAP), 0);
    return `${numberText(total)}${counts.some((count) => count >= UNREAD_CAP) ? "+" : ""}`;
}

/**
 * Returns an element that the page always has.
 *
 * @param {string} selector
 */
export const $ = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));

/** @typedef {Node | string | null | undefined} Child A node or a text; nothing for null and undefined. */

/**
 * Creates an element with attributes and children.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes] Those that are false, null or undefined are left out.
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        node.setAttribute(key, value === true ? "" : String(value));
    }
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
}

/**
 * Returns an address that may be followed or loaded; null unless it uses http or https.
 *
 * @param {string} text
 */
export function safeURL(text) {
    try {
        const url = new URL(text);
        return url.protocol === "https:" || url.protocol === "http:" ? url : null;
    } catch {
        return null;
    }
}

/**
 * True if a text shows nothing, so that the server refuses a message with it: white space and invisible characters only.
 *
 * @param {string} text
 */
export function isBlank(text) {
    return /^[\s\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]*$/u.test(text);
}

/**
 * Returns the address of a picture if the text is nothing else.
 *
 * @param {string} text
 */
export function pictureURL(text) {
    const trimmed = text.trim();
    const url = /\s/.test(trimmed) ? null : safeURL(trimmed);
    return url && PICTURE.test(url.pathname) ? url.href : null;
}

/**
 * Creates a link in a row, which the arrow keys reach. It gives the other site neither the referrer nor this window.
 *
 * @param {URL} url
 * @param {Child[]} children
 */
export function link(url, ...children) {
    return element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", referrerpolicy: "no-referrer", tabindex: "-1" },
        ...children);
}

/** @param {string} text */
function inline(text) {
    /** @type {Child[]} */
    const nodes = [];
    const pattern = new RegExp(INLINE);
    let end = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
        const [whole, code, address, bold, italic] = match;
        const start = match.index;
        const shown = address ? withoutTrailing(address) : whole;
        const url = address ? safeURL(shown) : null;
        if (address && !url) continue;
        const marked = bold ?? italic;
        // Two stars or underscores may stand for themselves, as in 2 ** 3 and some_long_name.
        const isNone = marked && (marked.trim() !== marked || (italic && [text[start - 1], text[pattern.lastIndex]].some((next) => next && WORD.test(next))));
        if (isNone) {
            pattern.lastIndex = start + 1;
            continue;
        }
        if (start > end) nodes.push(text.slice(end, start));
        // Links and code have a direction of their own, so that they do not change the order of the words around them.
        nodes.push(url ? element("bdi", { dir: "ltr" }, link(url, shown))
            : marked ? element(bold ? "strong" : "em", {}, ...(/[`:*_]/.test(marked) ? inline(marked) : [marked])) : element("bdi", {}, element("code", {}, code)));
        end = start + shown.length;
        pattern.lastIndex = end;
    }
    if (end < text.length) nodes.push(text.slice(end));
    return nodes;
}

/**
 * Returns an address without the punctuation of the sentence around it. Balanced pairs stay, as in Wikipedia's addresses.
 *
 * The characters are counted once: an address may have thousands of them.
 *
 * @param {string} address
 */
function withoutTrailing(address) {
    const counts = new Map();
    for (const character of address) counts.set(character, (counts.get(character) ?? 0) + 1);
    let end = address.length;
    for (; end > 0; end--) {
        const last = address[end - 1];
        const open = PAIRS.get(last);
        if (open === undefined && !TRAILING.has(last)) break;
        if (open !== undefined && (counts.get(open) ?? 0) >= counts.get(last)) break;
        counts.set(last, counts.get(last) - 1);
    }
    return address.slice(0, end);
}

/**
 * Returns a text without line feeds at both ends. A regular expression would look at a long row of them once for each.
 *
 * @param {string} text
 */
export function withoutLineFeeds(text) {
    let [start, end] = [0, text.length];
    while (text[start] === "\n") start++;
    while (end > start && text[end - 1] === "\n") end--;
    return text.slice(start, end);
}

/**
 * Returns the paragraphs, lists and quotes of a text, by the beginnings of its lines. Each has its own direction, and a direction that
 * a text switches on ends with it.
 *
 * @param {string} text
 * @param {boolean} [isQuote] True within a quote, where no other one begins.
 * @returns {HTMLElement[]}
 */
function blocks(text, isQuote = false) {
    /** @type {{kind: string, lines: string[]}[]} */
    const parts = [];
    for (const line of text.split("\n")) {
        const item = line.match(ITEM);
        const kind = !isQuote && QUOTED.test(line) ? "blockquote" : !item ? "p" : item[1] ? "ol" : "ul";
        const last = parts.at(-1);
        if (last?.kind === kind) last.lines.push(line);
        else parts.push({ kind, lines: [line] });
    }
    return parts.flatMap(/** @returns {HTMLElement[]} */ ({ kind, lines }) => {
        if (kind === "p") {
            const trimmed = withoutLineFeeds(lines.join("\n"));
            return trimmed ? [element("p", { dir: "auto" }, ...inline(trimmed))] : [];
        }
        if (kind === "blockquote") return [element("blockquote", { dir: "auto" }, ...blocks(lines.map((line) => line.replace(QUOTED, "")).join("\n"), true))];
        return [element(/** @type {"ol" | "ul"} */ (kind), { dir: "auto" }, ...lines.map((line) => {
            const [mark, number] = /** @type {RegExpMatchArray} */ (line.match(ITEM));
            return element("li", { value: number, dir: "auto" }, ...inline(line.slice(mark.length)));
        }))];
    });
}

/**
 * Returns the nodes of a message's text.
 *
 * @param {string} text
 */
export function formatted(text) {
    /** @type {Node[]} */
    const nodes = [];
    let end = 0;
    for (const match of text.matchAll(CODE_BLOCK)) {
        const start = /** @type {number} */ (match.index);
        const code = match[1].replace(/\n$/, "");
        nodes.push(...blocks(text.slice(end, start)), element("div", { class: "code" },
            element("pre", { dir: "ltr", tabindex: "-1" }, element("code", {}, code)),
            element("button", { type: "button", tabindex: "-1", "data-copy": true, title: texts.copy, "aria-label": texts.copyCode })));
        end = start + match[0].length;
    }
    nodes.push(...blocks(text.slice(end)));
    return nodes;
}

/** Maximum number of emoji that are drawn large. */
const LARGE_EMOJI = 3;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]|\p{Regional_Indicator}{2}|[#*\d]\ufe0f?\u20e3)/u;

/**
 * True for a text of a few emoji and nothing else.
 *
 * @param {string} text
 */
export function isEmoji(text) {
    // The longest emoji have some 35 units.
    if (text.length > 40 * LARGE_EMOJI) return false;
    const found = [...characters().segment(text.replace(/\s/g, ""))];
    return found.length > 0 && found.length <= LARGE_EMOJI && found.every(({ segment }) => EMOJI.test(segment));
}

/**
 * Returns a number of bytes as people read it.
 *
 * @param {number} bytes
 */
export function sizeText(bytes) {
    const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
    const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
    return new Intl.NumberFormat(locale, { style: "unit", unit: units[step], unitDisplay: "short", maximumFractionDigits: step > 1 ? 1 : 0 }).format(bytes / 1000 ** step);
}

/**
 * Returns the beginning of a text, with an ellipsis if it is cut. It is cut between characters as readers see them: an emoji made
 * of several parts, or a letter with its marks, stays whole.
 *
 * @param {string} text
 * @param {number} length The maximum length, in units of UTF-16. Of a single longer character the parts that fit remain.
 */
export function cut(text, length) {
    if (text.length <= length) return text;
    // The boundary of a character depends only on the text before it, so the beginning is enough.
    const start = characters().segment(text.slice(0, 2 * length)).containing(length)?.index ?? 0;
    return `${start > 0 ? text.slice(0, start) : text.slice(0, length).replace(LAST_HALF, "")}…`;
}

/**
 * Returns the length of a text as the server counts it, in bytes of UTF-8.
 *
 * @param {string} text
 */
export function byteLength(text) {
    return new TextEncoder().encode(text).length;
}

/**
 * Returns what is wrong with the name of a user while it is being typed; an empty string if nothing is. The server decides in the
 * end.
 *
 * @param {string} name
 */
export function nameProblem(name) {
    if (/\s/u.test(name)) return texts.nameSpaces;
    if (name === "." || name === "..") return texts.nameDots;
    // Joiners are invisible, but many names and emoji need them.
    if (/[\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u.test(name.replace(/[\u200c\u200d]/g, ""))) return texts.nameInvisible;
    if (byteLength(name) > NAME_BYTES) return texts.nameLong(NAME_BYTES);
    return "";
}

/**
 * Returns nodes that show who says something. The direction of writing of one does not affect the other.
 *
 * @param {string} name
 * @param {string} words
 */
export function said(name, words) {
    return [element("bdi", {}, name), ": ", element("bdi", {}, words)];
}

/**
 * Returns the nodes of a sentence that lists names, between the texts before and after them.
 *
 * @param {string} before
 * @param {readonly string[]} names
 * @param {string} [after]
 * @param {number} [more] The number of those whose names are left out.
 */
export function sentence(before, names, after = "", more = 0) {
    const parts = new Intl.ListFormat(locale).formatToParts(more ? [...names, texts.others(numberText(more))] : names);
    return [before, ...parts.map(({ type, value }) => (type === "element" ? element("bdi", {}, value) : value)), after].filter(Boolean);
}

const ATTACHMENT_NAMES = { image: texts.picture, video: texts.video, audio: texts.audio, file: texts.file, link: texts.link };

/**
 * Returns a text without its marks of formatting.
 *
 * @param {string} text
 */
export function plain(text) {
    // Every other part is the code of a block.
    const parts = text.split(CODE_BLOCK).flatMap((part, index) => (index % 2 ? part : inline(part.replace(/^ {0,3}> +/gm, ""))));
    return element("p", {}, ...parts).textContent ?? "";
}

/**
 * Returns the first words of a message, for lists and quotes.
 *
 * @param {import("./message.js").Content | null | undefined} message
 */
export function summary(message) {
    if (!message) return "";
    if (message.deleted) return texts.deleted;
    const { text = "" } = message;
    // Close bold or italic text, or a block of code, that is open where a long text is cut.
    const start = text.length > LONG ? `${text.slice(0, LONG).trimEnd()}**_\`\`\`` : text;
    if (start) return cut((plain(start).trim() || start).replace(/\s+/g, " ").trim(), SUMMARY_LENGTH);
    const [attachment] = message.attachments ?? [];
    return attachment ? cut(attachment.title ?? "", SUMMARY_LENGTH) || ATTACHMENT_NAMES[attachment.type] : "";
}

/**
 * Returns a color for a name, the same everywhere, as a hue in degrees.
 *
 * @param {string} name
 */
export function hue(name) {
    let hash = 0;
    for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
    return hash % 360;
}

/**
 * Returns the letters that stand for a name.
 *
 * @param {string} name
 */
export function initials(name) {
    const words = name.split(/[\s._~-]+/).filter(Boolean);
    const ends = words.length > 1 ? [words[0], words[words.length - 1]] : words;
    return ends.map((word) => characters().segment(word).containing(0)?.segment).join("").toLocaleUpperCase();
}

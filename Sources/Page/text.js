/**
 * Turns users' texts into nodes. Everything is text; only addresses that begin with http or https become links.
 *
 * @module text
 */

const CODE_BLOCK = /```(?:[\w+-]*\n)?([\s\S]*?)```/g;
const INLINE = /`([^`\n]+)`|(https?:\/\/[^\s<>"'`]+)/gi;
/** The characters at the end of an address that belong to the sentence around it. */
const TRAILING = ".,;:!?)]}'\"…";
/** The file names of pictures. */
const PICTURE = /\.(?:avif|gif|jpe?g|png|webp)$/i;

/** @type {Record<"clock" | "exact" | "date" | "weekday", Intl.DateTimeFormat> & {relative: Intl.RelativeTimeFormat} | null} */
let made = null;

/**
 * The formats of times, in the reader's language. Browsers take some 20 milliseconds to create them, so a page should call this
 * first while it waits for the server.
 */
export function formats() {
    made ??= {
        clock: new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }),
        exact: new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" }),
        date: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }),
        weekday: new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }),
        relative: new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }),
    };
    return made;
}

/** Creates an element with attributes and children. */
export function element(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
}

/** Returns an address that may be followed or loaded; null unless it uses http or https. */
export function safeURL(text) {
    try {
        const url = new URL(text);
        return url.protocol === "https:" || url.protocol === "http:" ? url : null;
    } catch {
        return null;
    }
}

/** Returns the address of a picture if the text is nothing else. */
export function pictureURL(text) {
    const trimmed = text.trim();
    const url = /\s/.test(trimmed) ? null : safeURL(trimmed);
    return url && PICTURE.test(url.pathname) ? url.href : null;
}

/** Creates a link that gives the other site neither the referrer nor this window. */
export function link(url, ...children) {
    return element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", referrerpolicy: "no-referrer" },
        ...children);
}

function inline(text) {
    const nodes = [];
    let end = 0;
    for (const match of text.matchAll(INLINE)) {
        const [whole, code, address] = match;
        const shown = address ? withoutTrailing(address) : whole;
        const url = address ? safeURL(shown) : null;
        if (address && !url) continue;
        if (match.index > end) nodes.push(text.slice(end, match.index));
        nodes.push(url ? link(url, shown) : element("code", {}, code));
        end = match.index + shown.length;
    }
    if (end < text.length) nodes.push(text.slice(end));
    return nodes;
}

/**
 * Returns an address without the punctuation of the sentence around it. Balanced parentheses stay, as in Wikipedia's addresses.
 */
function withoutTrailing(address) {
    let end = address.length;
    while (TRAILING.includes(address[end - 1])) {
        const shown = address.slice(0, end);
        if (shown.endsWith(")") && shown.split("(").length >= shown.split(")").length) break;
        end--;
    }
    return address.slice(0, end);
}

/**
 * Returns the nodes of a message's text. Each paragraph has its own direction, and a direction that a text switches on ends
 * with the paragraph.
 *
 * @returns {Node[]}
 */
export function formatted(text) {
    const nodes = [];
    const paragraph = (part) => {
        const trimmed = part.replace(/^\n+|\n+$/g, "");
        if (trimmed) nodes.push(element("p", { dir: "auto" }, ...inline(trimmed)));
    };
    let end = 0;
    for (const match of text.matchAll(CODE_BLOCK)) {
        paragraph(text.slice(end, match.index));
        nodes.push(element("pre", { dir: "ltr", tabindex: "0" }, element("code", {}, match[1].replace(/\n$/, ""))));
        end = match.index + match[0].length;
    }
    paragraph(text.slice(end));
    return nodes;
}

/** Returns the first words of a message, for lists and quotes. */
export function summary(message) {
    if (!message) return "";
    if (message.deleted) return "Deleted";
    if (message.text) return message.text.replace(/\s+/g, " ").slice(0, 140);
    const [attachment] = message.attachments ?? [];
    return attachment ? attachment.title || { image: "Picture", video: "Video", audio: "Audio", file: "File", link: "Link" }[attachment.type] : "";
}

/** Returns a colour for a name, the same everywhere, as a hue in degrees. */
export function hue(name) {
    let hash = 0;
    for (const character of name) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
    return hash % 360;
}

/** Returns the letters that stand for a name. */
export function initials(name) {
    const words = name.split(/[\s._~-]+/).filter(Boolean);
    const letters = (words.length > 1 ? [words[0], words.at(-1)] : words).map((word) => [...word][0]);
    return letters.join("").toLocaleUpperCase();
}

/** Creates a picture for a name. */
export function avatar(name) {
    const node = element("span", { class: "avatar", "aria-hidden": "true" }, initials(name));
    node.style.setProperty("--hue", hue(name));
    return node;
}

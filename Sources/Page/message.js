/**
 * The element of a message, of a day line, and of the unread line. Redrawing changes an element in place, and leaves the parts that
 * stay the same: so the focus stays, a video continues to play, and pictures are not loaded again.
 *
 * @module message
 */

import { dayText } from "./calendar.js";
import { avatar, knownName, nameOf } from "./people.js";
import { element, formats, formatted, isEmoji, link, safeURL, sentence, sizeText, summary } from "./text.js";
import { texts } from "./texts.js";
import { thumbhashCanvas } from "./thumbhash.js";

/** Maximum time between two messages of one sender that are drawn as a group, in milliseconds. */
const GROUP_MILLISECONDS = 5 * 60 * 1000;
const MINUTE_MILLISECONDS = 60 * 1000;
/** The frame into which a picture or video is fitted, and the least length of its sides, in CSS pixels. */
const MAXIMUM_WIDTH = 420;
const MAXIMUM_HEIGHT = 320;
const MINIMUM_SIDE = 48;
export const BLOCKED_TEXT = texts.blockedMessage;
export const LIKE = "❤️";
export const EMOJI = [LIKE, "👍", "😂", "😮", "😢", "🎉", "🙏", "🔥"];
/** Maximum number of names in the tooltip of a reaction. */
export const NAMED_USERS = 20;

/**
 * @typedef {import("./client/index.js").Row} Row
 * @typedef {import("./client/index.js").Message} Message
 * @typedef {import("./client/index.js").Attachment} Attachment
 *
 * @typedef {Omit<Partial<Message>, "created_at"> & {sender: string, created_at?: string | null}} Content What a row shows: a message, or a
 *   draft as if it were one.
 *
 * @typedef {object} Context What the rows need to know besides their messages.
 * @property {string} me
 * @property {(seq: number, key: string) => Message | null | undefined} quoted
 * @property {(key: string) => {users: string[], more: number}} readBy The users who have read up to a row, and how many there are besides.
 * @property {(seq: number | undefined) => boolean} isRead True for a message that somebody else has read.
 * @property {import("./client/index.js").Readership | null} readership
 * @property {boolean} countsUnread True to show how many members have not read each message.
 * @property {(message: Message, key: string) => boolean} hasReacted
 * @property {(seq: number) => ReadonlyMap<string, boolean> | undefined} wanted The reactions that are being stored or removed, by key.
 * @property {(message: Message) => boolean} isFolded True for a quoted message of a blocked user.
 */

/**
 * The content of a row: its message, or its draft if it is not stored.
 *
 * @param {Row} row
 * @param {string} me
 * @returns {Content}
 */
export function contentOf(row, me) {
    if (row.message) return row.message;
    return { ...row.draft, sender: me, created_at: null };
}

/**
 * A button in a row. The arrow keys reach it: the list has a single stop for the tab key.
 *
 * @param {Record<string, string | number | boolean | undefined>} attributes
 * @param {import("./text.js").Child[]} children
 */
function button(attributes, ...children) {
    return element("button", { type: "button", tabindex: "-1", ...attributes }, ...children);
}

/** @param {string} key */
function dayLine(key) {
    const text = dayText(new Date(`${key.slice(4)}T00:00:00Z`));
    return element("div", { class: "line day", "data-key": key, role: "separator", "aria-label": text }, element("span", {}, text));
}

function unreadLine() {
    return element("div", { class: "line unread", "data-key": "unread", role: "separator", "aria-label": texts.newMessages },
        element("span", {}, texts.newMessages));
}

/**
 * A box for a picture or video. It has its final size before the content has loaded, and a size that can be read whatever size
 * the message declares. A content of another shape is cropped.
 *
 * @param {Attachment} attachment The server requires a width and a height of a picture or video.
 * @param {HTMLElement} node
 */
function frame({ width = 1, height = 1, thumbhash }, node) {
    const scale = Math.min(1, MAXIMUM_WIDTH / width, MAXIMUM_HEIGHT / height);
    const box = element("div", { class: "media" }, thumbhash ? thumbhashCanvas(thumbhash) : null, node);
    const [boxWidth, boxHeight] = [width, height].map((length) => Math.max(MINIMUM_SIDE, Math.round(length * scale)));
    box.style.width = `${boxWidth}px`;
    box.style.aspectRatio = `${boxWidth} / ${boxHeight}`;
    return box;
}

/** @param {Attachment} attachment */
const altOf = ({ description, title }) => description || title || texts.picture;

/**
 * The pictures of a message that can be shown large.
 *
 * @param {Content} message
 */
export function picturesOf({ attachments }) {
    return (attachments ?? []).flatMap((attachment) => {
        const url = attachment.type === "image" ? safeURL(attachment.url) : null;
        return url ? [{ url, alt: altOf(attachment) }] : [];
    });
}

/**
 * The pictures and videos of a message: a single one in its shape, several in a grid. A picture is a link, which the page shows large.
 *
 * @param {readonly Attachment[]} attachments
 */
function album(attachments) {
    let pictures = 0;
    const nodes = attachments.flatMap(/** @returns {HTMLElement[]} */ (attachment) => {
        const url = safeURL(attachment.url);
        if (!url) return [];
        if (attachment.type === "video") {
            return [frame(attachment, element("video", { src: url.href, controls: true, tabindex: "-1", preload: "none", "aria-label": nameOfFile(attachment, url) }))];
        }
        const shown = link(url, frame(attachment, element("img", {
            src: url.href, alt: altOf(attachment), width: attachment.width, height: attachment.height,
            loading: "lazy", decoding: "async", referrerpolicy: "no-referrer",
        })));
        shown.dataset.view = String(pictures++);
        return [shown];
    });
    return nodes.length > 1 ? element("div", { class: "album", "data-count": nodes.length }, ...nodes) : nodes[0];
}

/**
 * @param {Attachment} attachment
 * @param {URL} url
 */
const nameOfFile = ({ title }, url) => title || decodeURIComponentSafely(url.pathname.split("/").pop() ?? "") || url.hostname;

/** @param {Attachment} attachment */
function attachmentNode(attachment) {
    const url = safeURL(attachment.url);
    if (!url) return null;
    const { type, description, size } = attachment;
    const name = nameOfFile(attachment, url);
    if (type === "audio") return element("audio", { src: url.href, controls: true, tabindex: "-1", preload: "none", "aria-label": name });
    const ending = name.match(/\.([a-z0-9]{1,4})$/i)?.[1] ?? "";
    return link(url, element("span", { class: "card" },
        type === "file" ? element("span", { class: "kind", "aria-hidden": "true" }, ending.toUpperCase()) : null,
        element("span", { class: "about" },
            element("b", { dir: "auto" }, name),
            description ? element("span", { dir: "auto" }, description) : null,
            element("small", {}, size ? `${sizeText(size)} · ${url.hostname}` : url.hostname))));
}

/** @param {string} text */
function decodeURIComponentSafely(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/**
 * The reactions to a message, as the user wants them. Those that are not stored yet have a mark.
 *
 * @param {Message} message
 * @param {Context} context
 */
function reactions(message, { hasReacted, wanted }) {
    const stored = message.reactions ?? [];
    const own = wanted(message.seq) ?? new Map();
    const added = [...own.keys()].filter((key) => !stored.some((reaction) => reaction.key === key));
    const nodes = [...stored, ...added.map((key) => ({ key, count: 0, users: [] }))].flatMap(({ key, count, users }) => {
        const wasMine = hasReacted(message, key);
        const isMine = own.get(key) ?? wasMine;
        const shown = count + Number(isMine) - Number(wasMine);
        if (!shown) return [];
        const named = users.slice(0, NAMED_USERS).map(knownName).join(", ");
        return [button({
            "data-reaction": key, "data-count": shown, "aria-pressed": String(isMine), "data-pending": isMine !== wasMine, title: named,
            "aria-label": `${key}, ${shown}: ${named}`,
        }, element("span", { class: "emoji" }, key), ` ${shown}`)];
    });
    return nodes.length ? element("div", { class: "reactions" }, ...nodes) : null;
}

/**
 * What can be done with a message that was not sent.
 *
 * @param {Row} row
 */
function failure(row) {
    return row.state !== "failed" ? null : element("div", { class: "failed", role: "alert" }, element("span", {}, failureText(row.code)),
        button({ "data-retry": true }, texts.retry),
        button({ "data-edit": true }, texts.edit),
        button({ "data-discard": true }, texts.discard));
}

/**
 * The bar at the bubble of a stored message. What is rare or cannot be undone is in the menu only. The style sheet draws the icons.
 *
 * @param {Row} row
 * @param {Content} message
 * @param {Context} context
 */
function actions(row, message, { me }) {
    if (row.state !== "stored") return null;
    const isMine = message.sender === me;
    return element("div", { class: "actions", role: "group", "aria-label": texts.actions },
        isMine ? null : button({ "data-react": LIKE, title: texts.like, "aria-label": texts.like }, LIKE),
        button({ "data-pick": true, title: texts.react, "aria-label": texts.react, "aria-haspopup": "true" }),
        button({ "data-reply": true, title: texts.reply, "aria-label": texts.reply }),
        isMine ? button({ "data-edit": true, title: texts.edit, "aria-label": texts.edit }) : null,
        button({ "data-menu": true, title: texts.more, "aria-label": texts.more, "aria-haspopup": "menu" }));
}

/** The small picker of emoji at a message. */
export function picker() {
    return element("div", { class: "picker", "data-transient": true, role: "group", "aria-label": texts.chooseReaction },
        ...EMOJI.map((key) => button({ "data-react": key, "aria-label": texts.reactWith(key) }, key)));
}

/** @param {string | null | undefined} code */
function failureText(code) {
    return /** @type {Record<string, string>} */ ({ ...texts.problems, ...texts.failures })[code ?? ""] ?? texts.failed;
}

const TICKS = {
    read_by_all: ["✓✓", texts.readByAll], read_by_some: ["✓✓", texts.readBySome], stored: ["✓", texts.sent], sending: ["○", texts.sending],
    queued: ["○", texts.waiting], failed: ["!", texts.notSent], deleted: null,
};

/**
 * How far an own message has got.
 *
 * @param {Row} row
 * @param {Context} context
 */
export function stateOf(row, { isRead, readership }) {
    if (row.state !== "stored") return row.state;
    if (readership?.tick(row) === "read_by_all") return "read_by_all";
    // Others than members may have read it, too.
    return isRead(row.seq) ? "read_by_some" : "stored";
}

/**
 * The time, marks and ticks of a message; null if it has none of its own.
 *
 * @param {Row} row
 * @param {Row | undefined} after
 * @param {Content} message
 * @param {Context} context
 */
function status(row, after, message, context) {
    const { clock, exact } = formats();
    const isLast = !sharesTime(row, after, context);
    const time = isLast && message.created_at ? new Date(message.created_at) : null;
    const parts = [];
    if (time) parts.push(element("time", { datetime: message.created_at, title: exact.format(time) }, clock.format(time)));
    if (message.edited_at && !message.deleted) parts.push(element("span", { class: "edited", title: exact.format(new Date(message.edited_at)) }, texts.edited));
    if (message.pinned) {
        const text = texts.pinnedBy(nameOf(message.pinned.by));
        parts.push(element("span", { class: "pinned", role: "img", "aria-label": text, title: text }, "📌"));
    }
    const state = row.mine && isLast ? stateOf(row, context) : undefined;
    const ticks = state ? TICKS[state] : null;
    if (ticks) {
        const [tick, label] = ticks;
        parts.push(element("span", { class: "tick", "data-tick": state, role: "img", "aria-label": label, title: label }, tick));
    }
    return parts.length ? element("span", { class: "status" }, ...parts) : null;
}

/**
 * True if a row continues the group of the one above it. Not by `groupPlace` of backscroll/list, whose groups end with the minute and have
 * stored messages only: here the name stands once in five minutes, and a message that is being sent belongs to the group.
 *
 * @param {Row} row
 * @param {Row | undefined} before
 * @param {Context} context
 */
function isGrouped(row, before, { me }) {
    if (!before?.state || before.folded) return false;
    const [message, previous] = [contentOf(row, me), contentOf(before, me)];
    return message.sender === previous.sender && timeOf(message) - timeOf(previous) < GROUP_MILLISECONDS;
}

/** @param {Content} content */
const timeOf = ({ created_at: time }) => (time ? Date.parse(time) : Date.now());

/**
 * True if the row below shows the time and the ticks of this one, too: those of a group's minute stand at its last message.
 *
 * @param {Row} row
 * @param {Row | undefined} after
 * @param {Context} context
 */
function sharesTime(row, after, context) {
    if (!after?.state || !isGrouped(after, row, context) || after.folded) return false;
    const [minute, next] = [row, after].map((one) => Math.floor(timeOf(contentOf(one, context.me)) / MINUTE_MILLISECONDS));
    return minute === next && (!row.mine || stateOf(row, context) === stateOf(after, context));
}

/**
 * Keeps room for the status at the end of the last line of a text. Returns false if the text ends with something else, such as code.
 *
 * @param {Element | undefined} last The last block of the text.
 * @param {HTMLElement} status
 */
function makeRoom(last, status) {
    while (last?.lastElementChild && last.matches("ul, ol, blockquote")) last = last.lastElementChild;
    if (!last?.matches("p, li")) return false;
    last.setAttribute("data-after", [...status.children].map((part) => part.textContent).join(" "));
    return true;
}

/**
 * Creates the element of a row.
 *
 * @param {Row} row
 * @param {Row | undefined} before The row above.
 * @param {Row | undefined} after The row below.
 * @param {HTMLElement | undefined} old The row's previous element. It is changed in place if possible.
 * @param {Context} context
 */
export function rowNode(row, before, after, old, context) {
    const fresh = freshNode(row, before, after, context);
    return old ? /** @type {HTMLElement} */ (renew(old, fresh)) : fresh;
}

/**
 * @param {Row} row
 * @param {Row | undefined} before
 * @param {Row | undefined} after
 * @param {Context} context
 */
function freshNode(row, before, after, context) {
    if (row.key === "unread") return unreadLine();
    if (!row.state) return dayLine(row.key);
    const message = contentOf(row, context.me);
    if (row.folded) return foldedNode(row);
    const classes = [row.mine ? "mine" : "theirs"];
    if (isGrouped(row, before, context)) classes.push("grouped");
    if (!row.mine && (message.mentions_room || message.mentions?.includes(context.me))) classes.push("mentions-me");
    const node = element("article", {
        class: ["row", ...classes].join(" "),
        "data-key": row.key, "data-seq": row.seq, "data-state": row.state, tabindex: "-1",
    });
    const time = message.created_at ? `, ${formats().clock.format(new Date(message.created_at))}` : "";
    node.setAttribute("aria-label", `${nameOf(message.sender)}: ${summary(message)}${time}`);
    const bubble = element("div", { class: "bubble" });
    if (message.deleted) {
        bubble.append(element("p", { class: "tombstone" }, texts.deletedMessage));
    } else {
        if (message.reply_to) bubble.append(quote(message.reply_to, row.key, context));
        const attachments = message.attachments ?? [];
        const isSeen = (/** @type {Attachment} */ { type }) => type === "image" || type === "video";
        const pictures = album(attachments.filter(isSeen));
        if (pictures) bubble.classList.add("pictured");
        const text = message.text ? element("div", { class: "text" }, ...formatted(message.text)) : null;
        for (const part of [pictures, text, ...attachments.filter((one) => !isSeen(one)).map(attachmentNode)]) if (part) bubble.append(part);
        if (bubble.childElementCount === 1) {
            if (pictures) bubble.classList.add("bare");
            else if (message.text && isEmoji(message.text)) bubble.classList.add("large");
        }
    }
    const said = status(row, after, message, context);
    if (said) {
        const last = bubble.lastElementChild;
        if (!bubble.matches(".large") && makeRoom((last?.matches(".text") && last.lastElementChild) || last || undefined, said)) said.classList.add("inline");
        bubble.append(said);
    }
    const { users, more } = row.mine ? context.readBy(row.key) : { users: [], more: 0 };
    const name = nameOf(message.sender);
    const unread = unreadCount(row, context);
    node.append(
        avatar(message.sender),
        element("div", { class: "body" },
            element("span", { class: "sender", dir: "auto", title: name === message.sender ? null : message.sender }, name),
            element("div", { class: "said" }, bubble, unread ? element("span", {
                class: "unread-count", role: "img", "aria-label": texts.unreadBy(unread), title: texts.unreadBy(unread),
            }, String(unread)) : null, actions(row, message, context)),
            row.message ? reactions(row.message, context) : null,
            failure(row),
            users.length ? element("span", { class: "readers" }, ...sentence(texts.readBy[0], users.map(nameOf), texts.readBy[1], more)) : null));
    return node;
}

/**
 * The number of members who have not read a row's message, if it is shown.
 *
 * @param {Row} row
 * @param {Context} context
 */
export const unreadCount = (row, { readership, countsUnread }) => (countsUnread && readership?.unreadCount(row)) || 0;

/**
 * A message of a blocked user. Its place and its menu stay.
 *
 * @param {Row} row
 */
function foldedNode(row) {
    return element("article", {
        class: "row theirs folded", "data-key": row.key, "data-seq": row.seq, "data-state": row.state, tabindex: "-1", "aria-label": BLOCKED_TEXT,
    }, element("div", { class: "bubble" }, element("span", {}, `${BLOCKED_TEXT} `), button({ "data-show": true }, texts.show)));
}

/**
 * @param {number} seq
 * @param {string} key
 * @param {Context} context
 */
function quote(seq, key, context) {
    const quoted = context.quoted(seq, key);
    if (quoted && context.isFolded(quoted)) return button({ class: "quote", "data-jump": seq }, element("span", {}, BLOCKED_TEXT));
    return button({ class: "quote", "data-jump": seq, "aria-label": texts.inReplyTo(quoted ? `${nameOf(quoted.sender)}: ${summary(quoted)}` : texts.aMessage) },
        element("b", { dir: "auto" }, quoted ? nameOf(quoted.sender) : "…"),
        element("span", { dir: "auto" }, quoted === null ? texts.unreadable : summary(quoted)));
}

// Redrawing

/** The attribute of the message that the reader has jumped to. Redrawing the message must not end its animation. */
const HIGHLIGHT = "data-found";

/**
 * The identity that matches children of the two elements: a reaction's key, or the part of the row.
 *
 * @param {Node} node
 */
function partOf(node) {
    if (!(node instanceof HTMLElement)) return node.nodeName;
    return node.dataset.reaction ?? node.classList[0] ?? node.nodeName;
}

/** @param {Node} node */
const isTransient = (node) => node instanceof HTMLElement && "transient" in node.dataset;

/**
 * Changes `old` into `fresh`. Elements with `data-transient` (an open menu) were added later, and stay. Returns the element to show:
 * `old`, unless the kinds of element differ.
 *
 * @param {ChildNode} old
 * @param {ChildNode} fresh Its children may be moved to `old`.
 * @returns {ChildNode}
 */
function renew(old, fresh) {
    if (old.isEqualNode(fresh)) return old;
    if (old.nodeName !== fresh.nodeName || !(old instanceof Element) || !(fresh instanceof Element)) {
        old.replaceWith(fresh);
        return fresh;
    }
    for (const { name } of [...old.attributes]) {
        if (!fresh.hasAttribute(name) && name !== HIGHLIGHT) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const kept = [...old.childNodes].filter((child) => !isTransient(child));
    /** @type {ChildNode | null} */
    let next = kept[0] ?? old.firstChild;
    for (const child of [...fresh.childNodes]) {
        const index = kept.findIndex((node) => partOf(node) === partOf(child));
        if (index < 0) {
            old.insertBefore(child, next);
            continue;
        }
        // Nodes before its counterpart have no counterpart.
        for (const gone of kept.splice(0, index)) gone.remove();
        const node = renew(/** @type {ChildNode} */ (kept.shift()), child);
        next = node.nextSibling;
    }
    for (const gone of kept) gone.remove();
    return old;
}

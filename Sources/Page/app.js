/**
 * The whole page: signs the user in, shows the list of rooms beside the open room, and keeps the URL in sync with them. To try it,
 * open it as two users: /?user=alice&room=lobby and /?user=bob&room=lobby.
 *
 * @module app
 */

import { watchCalendar } from "./calendar.js";
import { Client, ClientError } from "./client/index.js";
import { Notify } from "./client/notify.js";
import { claimsOf, listOf } from "./client/requests.js";
import { IndexedDBStore } from "./client/store-indexeddb.js";
import { draftOf, matches, watchDrafts } from "./composer.js";
import { ask, drawMessages, drawMute, onSend, openMute, sentAt, showMessages, showMessagesError, showsMessages, wireSearch } from "./dialogs.js";
import { BLOCKED_TEXT } from "./message.js";
import { networkText, watchedFetch, watchNetwork } from "./network.js";
import { canNotify, isNotified, Notifications, setNotified, showBadge } from "./notifications.js";
import { avatar, follow, membersOf, nameOf, pictureAddress, portrait } from "./people.js";
import { Screen } from "./screen.js";
import { kept, session } from "./session.js";
import { $, cut, durationText, element, forgetFormats, nameProblem, said, summary, totalUnreadText, unreadText } from "./text.js";
import { languages, problemText, setLanguage, texts } from "./texts.js";

/**
 * @typedef {import("./client/index.js").RoomSummary} RoomSummary
 *
 * @typedef {{me: string, token: string | null}} Account
 */

const MENTIONS_TITLE = texts.mentions;
const TOKEN_KEY = "backscroll.token";
/** The key of the name that was used last, which the installed app offers. */
const NAME_KEY = "backscroll.name";
/** Maximum time that other work waits for the first messages, in milliseconds. */
const FIRST_MESSAGES_MILLISECONDS = 500;
/** Delay after the first messages before the page is kept for use offline, in milliseconds. */
const OFFLINE_MILLISECONDS = 1000;
/** Maximum length of an unsent text in the list, in units of UTF-16. */
const DRAFT_LENGTH = 100;
const ROOM_ID = /^([A-Za-z0-9][A-Za-z0-9._~-]{0,127}|@[A-Za-z0-9_-]{22})$/;

/** @type {Account | null} The user, and the token on a server with keys. */
let account = null;
/** @type {Client | null} */
let client = null;
/** @type {Screen | null} */
let screen = null;
/** @type {readonly RoomSummary[]} The rooms in the list. */
let listed = [];
/** @type {Notifications | null} */
let notifications = null;
/** What the list says of a link that names no room, until a room is opened. */
let refusal = "";

/** @type {() => void} */
let endFirst = () => {};
/** Resolves once the first messages are on the screen, or after `FIRST_MESSAGES_MILLISECONDS`. Work that can wait begins then. */
const first = new Promise((resolve) => (endFirst = () => resolve(null)));
setTimeout(endFirst, FIRST_MESSAGES_MILLISECONDS);

/**
 * Reads the URL: the user in open mode, the room, and a message in it. A URL never contains a token. `refused` is the text that
 * it has as a room, if that is no id of a room.
 *
 * @returns {{user: string | null, room: string | null, refused: string | null, at: number | "read"}}
 */
function place() {
    const query = new URLSearchParams(location.search);
    const at = Number(query.get("at"));
    const room = query.get("room") || null;
    const isRoom = room !== null && ROOM_ID.test(room);
    return {
        user: query.get("user"), room: isRoom ? room : null, refused: isRoom ? null : room,
        at: Number.isSafeInteger(at) && at > 0 ? at : "read",
    };
}

/** The user who has signed in. */
function user() {
    if (!account) throw new Error("Nobody has signed in.");
    return account;
}

/** The client of the user who has signed in. */
function chat() {
    if (!client) throw new Error("Nobody has signed in.");
    return client;
}

/** @type {import("./client/profiles.js").Profiles | null} */
let profiles = null;
/** @type {Notify | null} */
let mutes = null;

/** The screen of the open room. */
function opened() {
    if (!screen) throw new Error("No room is open.");
    return screen;
}

/**
 * @param {string | null} room
 * @param {"read" | "last" | number} [at]
 */
function urlOf(room, at) {
    const query = new URLSearchParams();
    const account = user();
    if (!account.token) query.set("user", account.me);
    if (room) query.set("room", room);
    if (typeof at === "number") query.set("at", String(at));
    return `/?${query}`;
}

// Signing in

/**
 * Creates the client of a user.
 *
 * @param {string} user The name in open mode; an empty one is nobody.
 * @param {string | null} token
 */
function clientOf(user, token) {
    const options = { url: location.origin, store: new IndexedDBStore(), fetch: watchedFetch };
    return token ? new Client({ ...options, token: () => token }) : new Client({ ...options, user });
}

/**
 * Requests the rooms. The error shows if the server accepts the user.
 *
 * @param {Client} someone
 */
const tryRooms = (someone) => someone.request("GET", "/v1/rooms", listOf("rooms", { limit: 1 }));

/** Requests the rooms without a name. The error shows whether the server requires tokens. */
async function wantsToken() {
    const nobody = clientOf("", null);
    try {
        await tryRooms(nobody);
        return false;
    } catch (error) {
        const { code, status } = /** @type {ClientError} */ (error);
        return code !== "unauthenticated" && status === 401;
    } finally {
        nobody.close();
    }
}

async function start() {
    const { user } = place();
    const token = session.get(TOKEN_KEY);
    if (token) return void enter("", token);
    if (!user) return signIn(await wantsToken());
    if (nameProblem(user)) return await wantsToken() ? signIn(true) : signIn(false, nameProblem(user), user);
    // In open mode a name is enough. The room opens at once; a server with keys refuses the request below.
    const named = enter(user, null);
    await first;
    try {
        await tryRooms(named);
    } catch (error) {
        const { status } = /** @type {ClientError} */ (error);
        if (status === 401) signIn(true);
        else if (status === 400) signIn(false, problemText(error), user);
    }
}

/**
 * Asks for a name, or a token. A name that was refused can be corrected.
 *
 * @param {boolean} isToken
 */
function signIn(isToken, error = "", name = "") {
    leave();
    $("#app").hidden = true;
    $("#sign-in").hidden = false;
    $("#sign-in-text").textContent = isToken ? texts.wantsToken : texts.chooseName;
    $("#sign-in-label").textContent = isToken ? texts.token : texts.name;
    $("#sign-in-error").textContent = error;
    const input = /** @type {HTMLInputElement} */ ($("#sign-in-value"));
    input.value = isToken ? "" : name || kept.get(NAME_KEY) || "";
    input.oninput = () => ($("#sign-in-error").textContent = isToken ? "" : nameProblem(input.value.trim()));
    input.autocomplete = isToken ? "off" : "username";
    input.focus();
    $("#sign-in form").onsubmit = async (event) => {
        event.preventDefault();
        const value = input.value.trim();
        const problem = isToken ? "" : nameProblem(value);
        if (problem) return void ($("#sign-in-error").textContent = problem);
        if (isToken && !claimsOf(value)) return void ($("#sign-in-error").textContent = texts.noToken);
        const next = isToken ? clientOf("", value) : clientOf(value, null);
        try {
            await tryRooms(next);
        } catch (error) {
            return void ($("#sign-in-error").textContent = problemText(error));
        } finally {
            next.close();
        }
        if (isToken) session.set(TOKEN_KEY, value);
        else kept.set(NAME_KEY, value);
        if (isToken) enter("", value);
        else enter(value, null);
    };
}

/** @param {string} message */
function signOut(message) {
    session.set(TOKEN_KEY, null);
    signIn(true, message);
}

/**
 * Shows the rooms, and the one that the URL names. Returns the user's client.
 *
 * @param {string} user The name in open mode.
 * @param {string | null} token
 */
function enter(user, token) {
    account = { me: token ? claimsOf(token)?.user ?? "" : user, token };
    const entered = clientOf(user, token);
    client = entered;
    $("#sign-in").hidden = true;
    $("#app").hidden = false;
    profiles = follow(entered, account.me, () => {
        if (client !== entered) return;
        drawMe();
        drawRooms(listed);
        screen?.redraw();
        if (showsMessages(MENTIONS_TITLE)) drawMessages(mentionList());
    });
    first.then(() => client === entered && drawMe());
    notifications = new Notifications(account.me, { titleOf, isBlocked: (user) => entered.blocks.view.has(user), open: go });
    mutes = new Notify(entered);
    mutes.subscribe(() => {
        if (client !== entered) return;
        notifications?.take(entered.rooms.view);
        drawRooms(entered.rooms.view.rooms);
    });
    entered.blocks.subscribe(() => client === entered && drawRooms(listed));
    entered.connection.subscribe(() => {
        drawNetwork();
        const isRefused = client === entered && token && entered.connection.view.error?.status === 401;
        if (isRefused) signOut(texts.sessionEnded);
    });
    const { room, at, refused } = place();
    history.replaceState(history.state, "", urlOf(room, at));
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
    const isReturn = navigation?.type !== "navigate";
    refusal = refused === null ? "" : `${texts.badRoom(refused)} ${texts.roomIDHint}`;
    show(room, at, isReturn);
    first.then(() => {
        if (client !== entered) return;
        // The list shows a failure by staying empty, and goes on trying.
        entered.rooms.open().catch(() => {});
        entered.blocks.open().catch(() => {});
        entered.sendUnsent().catch(() => {});
    });
    return entered;
}

function leave() {
    listed = [];
    screen?.close();
    mutes?.close();
    client?.close();
    notifications?.close();
    screen = mutes = client = notifications = null;
}

// The open room

/** Closes the dialogs, which belong to the room that was shown. */
function closeDialogs() {
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

/**
 * Shows a room, or with null the list alone.
 *
 * @param {string | null} room
 * @param {"read" | "last" | number} [at]
 * @param {boolean} [isReturn] True if the reader's place in the room comes before `at`.
 */
function show(room, at, isReturn) {
    closeDialogs();
    screen?.close();
    screen = null;
    if (room !== null) refusal = "";
    $("#app").classList.toggle("in-room", room !== null);
    $("#screen").hidden = room === null;
    $("#nothing").hidden = room !== null;
    // The room that is left may have an unsent text.
    fillRooms(room);
    filterRooms();
    if (room === null) {
        drawPageTitle();
        endFirst();
        return;
    }
    screen = new Screen(chat(), user().me, room, at, {
        isReturn,
        onJump: noteJump,
        onChange: (view) => {
            drawOpenRoom();
            // A new task runs after this frame is painted.
            if (view.phase !== "initial") setTimeout(endFirst);
        },
    });
    drawReturn();
    setCounts();
    const known = chat().rooms.get(room);
    setRole(known ?? null);
    drawTitle(room);
    refreshRoom(room);
    placeTabStop();
}

/**
 * What the entry of the browser's history that is shown says. The entry that a dialog has made stays when the dialog is closed, until
 * another one takes its place, or the reader goes back: then also over it.
 *
 * @type {{isFromList?: boolean, jumps?: number, from?: import("./screen.js").Place | null, isDialog?: boolean}} `jumps` is the number of
 *   entries of jumps within the room up to this one, `from` the place that the last of them has left.
 */
let step = history.state ?? {};

/**
 * Makes what is shown next an entry of the browser's history.
 *
 * @param {typeof step} next
 * @param {string} [url]
 */
function enterStep(next, url) {
    history[step.isDialog ? "replaceState" : "pushState"]((step = next), "", url);
}

/**
 * Goes to a room. The open room stays as it is.
 *
 * @param {string} room
 */
function go(room) {
    if (screen?.id === room) return;
    enterStep({ isFromList: screen === null }, urlOf(room));
    show(room, "read", true);
    // On touch screens the keyboard would cover the messages.
    if (!matchMedia("(pointer: coarse)").matches) $("[data-composer]").focus();
}

/**
 * Makes a jump within the open room a step that the reader can take back.
 *
 * @param {number} seq
 * @param {import("./screen.js").Place | null} from
 */
function noteJump(seq, from) {
    const { isFromList, jumps = 0 } = step;
    enterStep({ isFromList, jumps: jumps + 1, from }, urlOf(opened().id, seq));
    drawReturn();
}

function drawReturn() {
    screen?.setCanReturn((step.jumps ?? 0) > 0);
}

/** True until the browser has gone back to the list of rooms, which it does later. A second press must not go further. */
let isLeaving = false;

/** Goes back to the list of rooms. */
function goBack() {
    if (isLeaving) return;
    const { isFromList, jumps = 0, isDialog } = step;
    const steps = jumps + (isDialog ? 2 : 1);
    // Browsers keep 50 entries, so that the list's may be gone.
    if (isFromList && steps < history.length) {
        isLeaving = true;
        return history.go(-steps);
    }
    history.replaceState((step = {}), "", urlOf(null));
    show(null);
}

/** @param {string} room */
async function refreshRoom(room) {
    await first;
    try {
        const summary = await chat().rooms.visit(room);
        if (screen?.id !== room) return;
        drawTitle(room, titleOf(summary));
        setRole(summary);
        setCounts();
    } catch {
        // The timeline shows the problem of the room.
    }
}

/**
 * Offers what the user may do in the open room.
 *
 * @param {RoomSummary | null} room Null if it is not known yet.
 */
function setRole(room) {
    const screen = opened();
    const role = room?.role;
    // In a direct room, too, an owner may delete the other's messages.
    screen.setRoom(room);
    $("#join").hidden = role !== undefined || !room;
    // The members of a direct room stay.
    $("#settings").hidden = $("#add-member").hidden = role !== "owner" || room?.direct !== undefined;
    $("#leave").hidden = $("#mute").hidden = !role;
    if (mutes) drawMute(mutes, screen.id);
}

/**
 * The name of a room: its title, the other user of a direct room, or its id.
 *
 * @param {RoomSummary} room
 */
const titleOf = ({ title, direct, room }) => title || (direct && nameOf(direct)) || room;

/**
 * The picture of a room, or of the other user of a direct room.
 *
 * @param {RoomSummary} room
 */
const pictureOf = (room) => portrait(room.direct ?? room.room, titleOf(room), addressOf(room));

/** @param {RoomSummary} room */
const addressOf = ({ direct, avatar }) => (direct ? pictureAddress(direct) : avatar);

/** @param {string} room */
const countsKey = (room) => `backscroll.counts.${user().me}/${room}`;

/**
 * True if each message of a room has the number of members who have not read it: if the user has said so on this device, or else
 * the room's data.
 *
 * @param {string} room
 */
const countsUnread = (room) => (kept.get(countsKey(room)) ?? String(chat().rooms.get(room)?.data?.unread_counts)) === "true";

function setCounts() {
    screen?.setCountsUnread(countsUnread(screen.id));
}

/** Tells the state of the connection, in the open room or with the list alone. */
function drawNetwork() {
    screen?.showNetwork();
    const text = networkText(client?.connection.view.state === "waiting" ? "offline" : "live");
    if ($("#network").textContent !== text) $("#network").textContent = text;
}

/** Shows the user's own name and picture below the list of rooms. */
function drawMe() {
    const { me } = user();
    $("#me").replaceChildren(avatar(me), element("span", { class: "who" }, ...named(me)));
}

/** @param {string} room */
function drawTitle(room, title = roomName(room)) {
    $("#room-title").textContent = title;
    drawPageTitle();
}

/**
 * The name of a room by its id.
 *
 * @param {string} id
 */
function roomName(id) {
    const room = chat().rooms.get(id);
    return room ? titleOf(room) : id;
}

/**
 * The number of unread messages of a room. The open room knows its own at once, the list some time later.
 *
 * @param {string} room
 */
function unreadOf(room) {
    return (room === screen?.id ? screen.unread : null) ?? client?.rooms.get(room)?.unread ?? 0;
}

/**
 * The number of unread messages of a room that may disturb the user.
 *
 * @param {string} room
 */
function loudUnreadOf(room) {
    const level = mutes?.get(room).level ?? "all";
    return level === "all" ? unreadOf(room) : level === "mentions" ? Math.min(unreadOf(room), client?.rooms.get(room)?.unread_mentions ?? 0) : 0;
}

/** Shows the number of unread messages of the open room in the list and in the title of the page. */
function drawOpenRoom() {
    const { id } = opened();
    /** @type {HTMLElement | null} */
    const item = document.querySelector(`[data-room-item="${id}"]`);
    const room = chat().rooms.get(id);
    if (item && room && item.dataset.unread !== String(unreadOf(id))) fillRoomItem(item, room);
    drawPageTitle();
}

/** Shows the number of unread messages of all rooms that may disturb in the title of the page. */
function drawPageTitle() {
    const rooms = new Set(listed.map(({ room }) => room));
    if (screen) rooms.add(screen.id);
    const counts = [...rooms].map(loudUnreadOf);
    const total = totalUnreadText(counts);
    const name = screen ? `${$("#room-title").textContent} – Backscroll` : "Backscroll";
    const text = total === "0" ? name : `(${total}) ${name}`;
    if (document.title === text) return;
    document.title = text;
    showBadge(counts.reduce((sum, count) => sum + count, 0));
}

// The list of rooms

/** @param {readonly RoomSummary[]} rooms */
function drawRooms(rooms) {
    const id = screen?.id;
    const wasListed = listed.some(({ room }) => room === id);
    listed = rooms;
    const list = $("#rooms");
    const known = new Map(/** @type {HTMLElement[]} */ ([...list.children]).map((item) => [item.dataset.roomItem, item]));
    let next = list.firstElementChild;
    for (const room of rooms) {
        const item = known.get(room.room) ?? roomItem(room.room);
        known.delete(room.room);
        fillRoomItem(item, room);
        if (item === next) next = item.nextElementSibling;
        else list.insertBefore(item, next);
    }
    for (const item of known.values()) item.remove();
    filterRooms();
    placeTabStop();
    const open = id === undefined ? undefined : chat().rooms.get(id);
    if (open) {
        if (open.title || open.direct) drawTitle(open.room, titleOf(open));
        // The first message in a new room makes its sender the owner.
        if (open.role || open.head) setRole(open);
        setCounts();
    } else if (wasListed && id !== undefined) {
        // The user may have been removed from it.
        refreshRoom(id);
    }
    drawPageTitle();
}

/**
 * Draws the rooms that are listed where they have changed.
 *
 * @param {string | null} open The open room.
 */
function fillRooms(open = screen?.id ?? null) {
    for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-room-item]"))) {
        const room = chat().rooms.get(item.dataset.roomItem ?? "");
        if (room) fillRoomItem(item, room, open);
    }
}

/** Shows the rooms with a word that begins with the text of the filter, in their names or those of their users. */
function filterRooms() {
    const input = /** @type {HTMLInputElement} */ ($("#filter"));
    const typed = input.value.trim();
    input.hidden = !listed.length;
    let isAny = false;
    for (const room of listed) {
        /** @type {HTMLElement | null} */
        const item = document.querySelector(`[data-room-item="${room.room}"]`);
        const isShown = !typed || [titleOf(room), room.direct ?? room.room].some((name) => matches(name, typed));
        if (item) item.hidden = !isShown;
        isAny ||= isShown;
    }
    $("#first").hidden = listed.length > 0 || !client?.rooms.view.isListed;
    $("#no-rooms").textContent = listed.length && !isAny ? texts.noRoomFound : refusal;
}

/** The links of the rooms that are shown. */
const roomLinks = () => /** @type {HTMLElement[]} */ ([...$("#rooms").querySelectorAll("li:not([hidden]) a")]);

$("#filter").addEventListener("input", () => {
    filterRooms();
    placeTabStop();
});
$("#filter").addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const [first] = roomLinks();
    if (event.key === "ArrowDown") first?.focus();
    else if (event.key === "Enter") first?.click();
    else if (event.key === "Escape") clearFilter();
    else return;
    event.preventDefault();
});

function clearFilter() {
    /** @type {HTMLInputElement} */ ($("#filter")).value = "";
    filterRooms();
    placeTabStop();
}

/** @param {string} id */
function roomItem(id) {
    const link = element("a", { href: urlOf(id), tabindex: "-1" });
    link.onclick = (event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        clearFilter();
        go(id);
    };
    return element("li", { "data-room-item": id }, link);
}

/** @type {WeakMap<HTMLElement, string>} The content of each item of the list. Items with unchanged content are not replaced. */
const shownRooms = new WeakMap();

/** @param {Element} item */
const linkOf = (item) => /** @type {HTMLElement} */ (item.firstElementChild);

/**
 * @param {HTMLElement} item
 * @param {RoomSummary} room
 * @param {string | null} [open] The open room.
 */
function fillRoomItem(item, room, open = screen?.id ?? null) {
    const { last_message: last } = room;
    const unread = unreadOf(room.room);
    const mentions = unread ? room.unread_mentions ?? 0 : 0;
    const time = last ? new Date(last.created_at) : null;
    const isToday = time?.toDateString() === new Date().toDateString();
    markCurrent(item, open);
    // The open room shows its own.
    const draft = room.room === open ? "" : cut(draftOf(user().me, room.room).replace(/\s+/g, " ").trim(), DRAFT_LENGTH);
    const isFolded = last !== undefined && chat().blocks.view.has(last.sender);
    // In a direct room the other user's name is above.
    const author = !last || last.sender === room.direct ? "" : last.sender === user().me ? texts.you : nameOf(last.sender);
    const level = mutes?.get(room.room).level ?? "all";
    const shown = JSON.stringify([isFolded, level, draft, author, addressOf(room), titleOf(room), room.visibility, unread, mentions, room.epoch, last?.seq, last?.rev, isToday, time?.getTimezoneOffset()]);
    if (shownRooms.get(item) === shown) return;
    shownRooms.set(item, shown);
    item.dataset.unread = String(unread);
    linkOf(item).replaceChildren(
        pictureOf(room),
        element("span", { class: "what" },
            element("span", { class: "name", dir: "auto" }, titleOf(room), room.visibility === "private" && !room.direct ? element("small", {}, ` ${texts.private}`) : null,
                level === "all" ? null : element("small", {}, ` ${level === "none" ? texts.muted : texts.onlyMentions}`)),
            element("span", { class: "last", dir: "auto" }, ...(draft ? [element("b", { class: "draft" }, texts.draft), element("bdi", {}, draft)] : last && isFolded ? [BLOCKED_TEXT] : last ? (author ? said(author, summary(last)) : [summary(last)]) : room.head ? [] : [texts.noMessages]))),
        element("span", { class: "when" },
            last ? element("time", { datetime: last.created_at }, sentAt(last)) : null,
            unread ? element("span", { class: "badges" },
                mentions ? element("span", { class: `badge mention${level === "none" ? " quiet" : ""}`, role: "img", "aria-label": texts.mentionCount(unreadText(mentions)), title: texts.mentionCount(unreadText(mentions)) }, "@") : null,
                element("span", { class: level === "all" ? "badge" : "badge quiet", "aria-label": texts.unreadCount(unreadText(unread)) }, unreadText(unread))) : null));
}

/**
 * @param {Element} item
 * @param {string | null} room The open room.
 */
function markCurrent(item, room) {
    if (item.getAttribute("data-room-item") === room) linkOf(item).setAttribute("aria-current", "page");
    else linkOf(item).removeAttribute("aria-current");
}

/** Gives the list one stop for the tab key: the room that has the focus, or the open one. The arrow keys reach the others. */
function placeTabStop() {
    const links = roomLinks();
    const stop = links.find((link) => link === document.activeElement) ?? links.find((link) => link.ariaCurrent) ?? links[0];
    for (const link of links) link.tabIndex = link === stop ? 0 : -1;
}

$("#rooms").addEventListener("focusin", placeTabStop);
$("#rooms").addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const links = roomLinks();
    const current = links.findIndex((link) => link === document.activeElement);
    const next = new Map([["ArrowUp", links[current - 1]], ["ArrowDown", links[current + 1]], ["Home", links[0]], ["End", links[links.length - 1]]]).get(event.key);
    if (!next) return;
    event.preventDefault();
    next.focus();
});

// Dialogs

function wireDialogs() {
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-cancel]"))) button.onclick = () => button.closest("dialog")?.close();
    const rooms = /** @type {HTMLDialogElement} */ ($("#new-room-dialog"));
    const roomForm = /** @type {HTMLFormElement} */ ($("#new-room-dialog form"));
    const roomError = $("#new-room-dialog .error");
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-new-room]"))) button.onclick = () => {
        roomForm.reset();
        roomError.textContent = "";
        rooms.showModal();
    };
    onSend(rooms, async () => {
        const form = new FormData(roomForm);
        const field = (/** @type {string} */ name) => String(form.get(name)).trim();
        const id = field("id");
        /** @type {import("./client/index.js").RoomSettings} */
        const settings = { visibility: form.get("private") ? "private" : "open" };
        if (field("title")) settings.title = field("title");
        await chat().rooms.make(id, settings);
        go(id);
    });
    const members = /** @type {HTMLDialogElement} */ ($("#members-dialog"));
    const input = /** @type {HTMLInputElement} */ ($("#member-name"));
    const counts = /** @type {HTMLInputElement} */ ($("#unread-counts"));
    counts.onchange = () => {
        kept.set(countsKey(opened().id), String(counts.checked));
        setCounts();
    };
    $("#members").onclick = () => {
        $("#members-error").textContent = "";
        counts.checked = countsUnread(opened().id);
        members.showModal();
        drawMembers();
    };
    input.oninput = () => ($("#members-error").textContent = nameProblem(input.value.trim()));
    $("#members-dialog form").onsubmit = async (event) => {
        event.preventDefault();
        if (!input.value.trim() || nameProblem(input.value.trim())) return;
        if (await tryMember(() => chat().rooms.add(input.value.trim(), opened().id))) input.value = "";
    };
    const dialog = /** @type {HTMLDialogElement} */ ($("#profile-dialog"));
    const profileError = $("#profile-error");
    const [name, address] = ["#profile-name", "#profile-avatar"].map((selector) => /** @type {HTMLInputElement} */ ($(selector)));
    const preview = () => $("#profile-preview").replaceChildren(portrait(user().me, name.value.trim() || user().me, address.value.trim()));
    $("#me").onclick = () => {
        const profile = profiles?.get(user().me);
        [name.value, address.value, profileError.textContent] = [profile?.name ?? "", profile?.avatar ?? "", ""];
        notify.checked = isNotified(user().me);
        preview();
        dialog.showModal();
    };
    name.oninput = address.onchange = preview;
    const language = /** @type {HTMLSelectElement} */ ($("#language"));
    language.replaceChildren(...languages().map(({ hreflang, title }) => element("option", { value: hreflang, lang: hreflang }, title)));
    language.value = document.documentElement.lang;
    language.onchange = () => setLanguage(language.value);
    const notify = /** @type {HTMLInputElement} */ ($("#notify"));
    $("#notify-check").hidden = !canNotify;
    notify.onchange = async () => {
        profileError.textContent = "";
        if (await setNotified(user().me, notify.checked)) return;
        notify.checked = false;
        profileError.textContent = texts.notifyRefused;
    };
    onSend(dialog, async () => void (await profiles?.set({ name: name.value.trim(), avatar: address.value.trim() })));
    wireSettings();
    wireDates();
    $("#mute").onclick = () => mutes && openMute(mutes, opened().id);
    $("#join").onclick = async () => {
        const room = opened().id;
        try {
            await chat().rooms.join(room);
        } catch (error) {
            return opened().showError(problemText(error));
        }
        refreshRoom(room);
    };
    $("#leave").onclick = async () => {
        const room = opened().id;
        if (!(await ask(texts.askLeave($("#room-title").textContent ?? ""), texts.leave))) return;
        if (!(await tryMember(() => chat().rooms.leave(room)))) return;
        members.close();
        goBack();
    };
}

/** The dialog that goes to a day. */
function wireDates() {
    const dialog = /** @type {HTMLDialogElement} */ ($("#date-dialog"));
    const [input, problem] = [/** @type {HTMLInputElement} */ ($("#date-value")), $("#date-error")];
    const dateOf = (/** @type {Date} */ time) => [time.getFullYear(), time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
    $("#date").onclick = $("[data-date]").onclick = () => {
        [input.value, input.max, problem.textContent] = [dateOf(opened().shownTime), dateOf(new Date()), ""];
        dialog.showModal();
    };
    // Without a zone, a time is the reader's.
    onSend(dialog, async () => ((await opened().goToTime(new Date(`${input.value}T00:00`))) ? "" : texts.noDay));
}

/** @param {import("./client/index.js").Message} message The message to show. The reader can go back. */
function goTo({ room = "", seq }) {
    if (screen?.id === room) return screen.leap(seq);
    enterStep({ isFromList: screen === null }, urlOf(room, seq));
    show(room, seq);
}

/** @param {import("./client/index.js").Message} message */
const isFolded = ({ sender }) => chat().blocks.view.has(sender);

wireSearch({ client: () => client, room: () => screen?.id ?? null, roomName, isFolded, go: goTo });

/** @type {{messages: import("./client/index.js").Message[], cursor?: string}} The mentions that are loaded. */
let mentions = { messages: [] };

/** @returns {import("./dialogs.js").List} */
function mentionList() {
    return {
        title: MENTIONS_TITLE, empty: texts.noMentions, messages: mentions.messages, isFolded,
        about: (message) => `${sentAt(message)} · ${roomName(message.room ?? "")}`,
        go: goTo,
        more: mentions.cursor === undefined ? null : () => loadMentions(),
    };
}

/** Loads mentions of the user: the newest ones, or those after them. */
async function loadMentions() {
    const before = mentions;
    try {
        const { messages, hasMore, cursor } = await chat().rooms.mentions(before.cursor === undefined ? {} : { cursor: before.cursor });
        if (mentions !== before) return;
        mentions = { messages: [...before.messages, ...messages], cursor: hasMore ? cursor : undefined };
        showMessages(mentionList());
    } catch (error) {
        showMessages(mentionList());
        showMessagesError(problemText(error));
    }
}

$("#mentions").onclick = () => {
    mentions = { messages: [] };
    loadMentions();
};

/** The times of slow mode to choose from, in seconds. */
const SLOW_SECONDS = [0, 10, 30, 60, 300, 900, 3600];

/** @param {number} seconds */
const slowText = (seconds) => (seconds ? durationText(seconds, "long") : texts.off);

/** The dialog in which owners set the title, the picture and the manners of a room. */
function wireSettings() {
    const dialog = /** @type {HTMLDialogElement} */ ($("#settings-dialog"));
    const form = /** @type {HTMLFormElement} */ ($("#settings-dialog form"));
    const problem = $("#settings-error");
    const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
    /** @returns {import("./client/index.js").RoomSettings} */
    const entered = () => ({
        title: field("title").value.trim(), avatar: field("avatar").value.trim(), slow_seconds: Number(field("slow_seconds").value),
        keep_days: Number(field("keep_days").value), posting: field("posting").checked ? "owners" : "members", pinning: field("pinning").checked ? "members" : "owners",
        searchable: field("searchable").checked,
    });
    /** @type {Record<string, unknown>} What was set when the dialog opened: only what differs is sent. */
    let before = {};
    /** The room that the dialog is for. Another one may have been opened since. */
    let id = "";
    $("#settings").onclick = async () => {
        let room;
        try {
            room = await chat().rooms.summary(opened().id);
            id = room.room;
        } catch (error) {
            return void ($("#members-error").textContent = problemText(error));
        }
        const slow = room.slow_seconds ?? 0;
        $("#settings-slow").replaceChildren(...[...new Set([...SLOW_SECONDS, slow])].sort((one, other) => one - other)
            .map((seconds) => element("option", { value: seconds }, slowText(seconds))));
        [field("title").value, field("avatar").value, field("slow_seconds").value] = [room.title ?? "", room.avatar ?? "", String(slow)];
        field("keep_days").value = room.keep_days === undefined ? "" : String(room.keep_days);
        [field("posting").checked, field("pinning").checked, field("searchable").checked] = [room.posting === "owners", room.pinning === "members", room.searchable !== false];
        problem.textContent = "";
        before = { ...entered() };
        dialog.showModal();
    };
    onSend(dialog, async () => {
        if (!/^\s*\d*\s*$/.test(field("keep_days").value)) return texts.badDays;
        const settings = Object.fromEntries(Object.entries(entered()).filter(([name, value]) => value !== before[name]));
        const room = await chat().rooms.change(id, settings);
        if (screen?.id !== id) return;
        drawTitle(id, titleOf(room));
        setRole(room);
    });
}

async function drawMembers() {
    const list = $("#member-list");
    const { id } = opened();
    let members;
    try {
        members = await membersOf(chat(), id);
    } catch (error) {
        list.replaceChildren();
        return void ($("#members-error").textContent = problemText(error));
    }
    const { me } = user();
    const isDirect = chat().rooms.get(id)?.direct !== undefined;
    const isOwner = !isDirect && members.some(({ user, role }) => user === me && role === "owner");
    list.replaceChildren(...members.map(({ user, role }) => {
        const name = nameOf(user);
        const remove = isOwner && user !== me
            ? element("button", { type: "button", "aria-label": texts.removeOf(name) }, texts.remove) : null;
        if (remove) remove.onclick = async () => {
            if (await ask(texts.askRemove(name), texts.remove)) tryMember(() => chat().rooms.remove(user, id));
        };
        const write = user === me || isDirect ? null : element("button", { type: "button", "aria-label": texts.writeTo(name) }, texts.write);
        if (write) write.onclick = () => writeTo(user);
        return element("li", {}, avatar(user), element("span", { class: "who" }, ...named(user)), role === "owner" ? element("small", {}, texts.owner) : null,
            element("span", { class: "member-actions" }, write, remove));
    }));
}

/**
 * The name of a user, and the id if that is another one.
 *
 * @param {string} user
 */
const named = (user) => [element("span", { dir: "auto" }, nameOf(user)), nameOf(user) === user ? null : element("small", { dir: "auto" }, user)];

/**
 * Goes to the direct room with a user.
 *
 * @param {string} user
 */
async function writeTo(user) {
    try {
        const { room } = await chat().rooms.direct(user);
        /** @type {HTMLDialogElement} */ ($("#members-dialog")).close();
        go(room);
    } catch (error) {
        $("#members-error").textContent = problemText(error);
    }
}

/** @param {() => Promise<unknown>} request */
async function tryMember(request) {
    try {
        await request();
    } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        $("#members-error").textContent = problemText(error);
        return false;
    }
    $("#members-error").textContent = "";
    screen?.renewMembers();
    await drawMembers();
    return true;
}

// Assembly

$("#back").onclick = goBack;
$("[data-return]").onclick = () => history.back();
window.addEventListener("popstate", () => {
    isLeaving = false;
    const { room, at } = place();
    const { jumps, from, isDialog } = step;
    step = history.state ?? {};
    if (room !== (screen?.id ?? null)) return show(room, at, true);
    const isOpen = hasDialog();
    closeDialogs();
    if (step.isDialog) return;
    // Nothing was to be seen of the entry of a closed dialog.
    if (isDialog && jumps === step.jumps) return isOpen ? undefined : history.back();
    if (from && jumps === (step.jumps ?? 0) + 1) screen?.returnTo(from);
    else if (typeof at === "number") screen?.jump(at);
    drawReturn();
});
/** True while a dialog is open, or the menu of a message. */
const hasDialog = () => document.querySelector("dialog[open]") !== null;
// Back closes a dialog.
new MutationObserver(() => hasDialog() && !step.isDialog && enterStep({ ...step, isDialog: true }))
    .observe(document.body, { subtree: true, attributeFilter: ["open"] });
/** Finds out at once if the connections still work, and tries what waits. */
function wake() {
    client?.enterForeground();
}
watchNetwork({ lost: () => client?.networkLost(), found: wake, missed: () => client?.networkPathChanged(), changed: drawNetwork });
window.addEventListener("pageshow", ({ persisted }) => persisted && wake());
document.addEventListener("resume", wake);
document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return wake();
    client?.enterBackground();
    screen?.save();
});
window.addEventListener("pagehide", () => screen?.save());
watchDrafts(() => client && fillRooms());
navigator.serviceWorker?.addEventListener("message", ({ data }) => client && data.room && go(data.room));
watchCalendar((change) => {
    if (change.isZone) {
        forgetFormats();
        client?.timeZoneChanged();
    }
    screen?.calendarChanged();
    if (client) drawRooms(listed);
});
// Over plain HTTP from another machine, browsers have no service workers. The page then does not open offline.
// If site data is blocked, naming them is refused, too.
const keepOffline = async () => {
    try {
        await navigator.serviceWorker?.register("/page/offline.js", { scope: "/" });
    } catch {
        // The page works while it has a connection.
    }
};
first.then(() => setTimeout(keepOffline, OFFLINE_MILLISECONDS));
wireDialogs();
start();

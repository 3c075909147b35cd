/**
 * The whole page: signs the user in, shows the list of rooms beside the open room, and keeps the URL in sync with them.
 *
 * @module app
 */

import { watchCalendar } from "./calendar.js";
import { claimsOf, Client, ClientError } from "./client/index.js";
import { IndexedDBStore } from "./client/store-indexeddb.js";
import { ask } from "./question.js";
import { Screen } from "./screen.js";
import { session } from "./session.js";
import { avatar, element, forgetFormats, formats, nameProblem, said, summary, totalUnreadText, unreadText } from "./text.js";

const $ = (selector) => document.querySelector(selector);
const TOKEN_KEY = "backscroll.token";
/** Maximum number of members to list. */
const MAXIMUM_MEMBERS = 1000;
/** Maximum time that other work waits for the first messages, in milliseconds. */
const FIRST_MESSAGES_MILLISECONDS = 500;
/** Delay after the first messages before the page is kept for use offline, in milliseconds. */
const OFFLINE_MILLISECONDS = 1000;
const ROOM_ID = /^([A-Za-z0-9][A-Za-z0-9._~-]{0,127}|@[A-Za-z0-9_-]{22})$/;

/** The user, whose client has an address of its own, and the token on a server with keys. @type {{me: string, token: string | null} | null} */
let account = null;
let client, screen = null;
/** The rooms in the list. */
let listed = [];

let endFirst;
/** Resolves once the first messages are on the screen, or after `FIRST_MESSAGES_MILLISECONDS`. Work that can wait begins then. */
const first = new Promise((resolve) => (endFirst = resolve));
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

function urlOf(room, at) {
    const query = new URLSearchParams();
    if (!account.token) query.set("user", account.me);
    if (room) query.set("room", room);
    if (typeof at === "number") query.set("at", String(at));
    return `/?${query}`;
}

// Signing in

/** Creates the client of a user, or of nobody. */
function clientOf(user, token) {
    const [url, store] = [location.origin, new IndexedDBStore()];
    return token ? new Client({ url, store, token: () => token }) : new Client({ url, store, user });
}

/** Requests the rooms. The error shows if the server accepts the user. */
const tryRooms = (someone) => someone.request("GET", "/v1/rooms", { query: { limit: 1 } });

/** Requests the rooms without a name. The error shows whether the server requires tokens. */
async function wantsToken() {
    const nobody = clientOf("", null);
    try {
        await tryRooms(nobody);
        return false;
    } catch (error) {
        return error.code !== "unauthenticated" && error.status === 401;
    } finally {
        nobody.close();
    }
}

async function start() {
    const { user } = place();
    const token = session.get(TOKEN_KEY);
    if (token) return enter(null, token);
    if (!user) return signIn(await wantsToken());
    if (nameProblem(user)) return await wantsToken() ? signIn(true) : signIn(false, nameProblem(user), user);
    // In open mode a name is enough. The room opens at once; a server with keys refuses the request below.
    const named = enter(user, null);
    await first;
    try {
        await tryRooms(named);
    } catch (error) {
        if (error.status === 401) signIn(true);
        else if (error.status === 400) signIn(false, error.message, user);
    }
}

/** Asks for a name, or a token. A name that was refused can be corrected. */
function signIn(isToken, error = "", name = "") {
    leave();
    $("#app").hidden = true;
    $("#sign-in").hidden = false;
    $("#sign-in-text").textContent = isToken ? "This server requires a token (JWT), which your application issues." : "Choose a name to chat with.";
    $("#sign-in-label").textContent = isToken ? "Token" : "Name";
    $("#sign-in-error").textContent = error;
    const input = $("#sign-in-value");
    input.value = isToken ? "" : name;
    input.oninput = () => ($("#sign-in-error").textContent = isToken ? "" : nameProblem(input.value.trim()));
    input.autocomplete = isToken ? "off" : "username";
    input.focus();
    $("#sign-in form").onsubmit = async (event) => {
        event.preventDefault();
        const value = input.value.trim();
        const problem = isToken ? "" : nameProblem(value);
        if (problem) return void ($("#sign-in-error").textContent = problem);
        if (isToken && !claimsOf(value)) return void ($("#sign-in-error").textContent = "This is no token.");
        const next = isToken ? clientOf(null, value) : clientOf(value, null);
        try {
            await tryRooms(next);
        } catch (error) {
            return void ($("#sign-in-error").textContent = error.message);
        } finally {
            next.close();
        }
        if (isToken) session.set(TOKEN_KEY, value);
        if (isToken) enter(null, value);
        else enter(value, null);
    };
}

function signOut(message) {
    session.set(TOKEN_KEY, null);
    signIn(true, message);
}

/** Shows the rooms, and the one that the URL names. Returns the user's client. */
function enter(user, token) {
    account = { me: token ? claimsOf(token).user : user, token };
    const entered = clientOf(user, token);
    client = entered;
    $("#sign-in").hidden = true;
    $("#app").hidden = false;
    $("#me").replaceChildren(avatar(account.me), element("span", { dir: "auto" }, account.me));
    entered.rooms.subscribe(() => client === entered && drawRooms(entered.rooms.view.rooms));
    entered.connection.subscribe(() => {
        const isRefused = client === entered && token && entered.connection.view.error?.status === 401;
        if (isRefused) signOut("Your session has ended. Sign in again.");
    });
    const { room, at, refused } = place();
    history.replaceState(history.state, "", urlOf(room, at));
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
    const isReturn = navigation?.type !== "navigate";
    show(room, at, isReturn);
    if (refused !== null) {
        $("#nothing-text").textContent = `“${refused}” cannot be a room. The id of a room has up to 128 letters, digits and . _ ~ -, and begins with a letter or digit.`;
    }
    first.then(() => {
        if (client !== entered) return;
        // The list shows a failure by staying empty, and goes on trying.
        entered.rooms.open().catch(() => {});
        entered.sendUnsent().catch(() => {});
    });
    return entered;
}

function leave() {
    listed = [];
    screen?.close();
    client?.close();
    screen = client = null;
}

// The open room

/**
 * Shows a room, or with null the list alone.
 *
 * @param {string | null} room
 * @param {"read" | "last" | number} [at]
 * @param {boolean} [isReturn] True if the reader's place in the room comes before `at`.
 */
function show(room, at, isReturn) {
    screen?.close();
    screen = null;
    $("#app").classList.toggle("in-room", room !== null);
    $("#screen").hidden = room === null;
    $("#nothing").hidden = room !== null;
    $("#nothing-text").textContent = "Choose a room, or make one.";
    for (const item of document.querySelectorAll("[data-room-item]")) markCurrent(item, room);
    if (room === null) {
        drawPageTitle();
        endFirst();
        return;
    }
    const opened = new Screen(client, account.me, room, at, {
        isReturn,
        onChange: (view) => {
            drawOpenRoom();
            // A new task runs after this frame is painted.
            if (view.phase !== "initial") setTimeout(endFirst);
        },
    });
    screen = opened;
    setRole(client.rooms.get(room)?.role ?? null);
    drawTitle(room);
    refreshRoom(room);
    placeTabStop();
}

/** Goes to a room. The open room stays as it is. */
function go(room) {
    if (screen?.id === room) return;
    history.pushState({ isFromList: screen === null }, "", urlOf(room));
    show(room, "read", true);
}

/** Goes back to the list of rooms. */
function goBack() {
    if (history.state?.isFromList) return history.back();
    history.replaceState(null, "", urlOf(null));
    show(null);
}

async function refreshRoom(room) {
    await first;
    try {
        const summary = await client.rooms.visit(room);
        if (screen?.id !== room) return;
        drawTitle(room, summary.title);
        setRole(summary.role);
    } catch {
        // The timeline shows the problem of the room.
    }
}

/** Offers what a user of this role may do in the open room; `undefined` is no member, and null is a role that is not known yet. */
function setRole(role) {
    screen.setOwner(role === "owner");
    $("#join").hidden = role !== undefined || screen.isEnded;
    $("#add-member").hidden = role !== "owner";
    $("#leave").hidden = !role;
}

function drawTitle(room, title = client.rooms.get(room)?.title) {
    $("#room-title").textContent = title || room;
    drawPageTitle();
}

/** The number of unread messages of a room. The open room knows its own at once, the list some time later. */
function unreadOf(room) {
    return (room === screen?.id ? screen.unread : null) ?? client.rooms.get(room)?.unread ?? 0;
}

/** Shows the number of unread messages of the open room in the list and in the title of the page. */
function drawOpenRoom() {
    const item = $(`[data-room-item="${screen.id}"]`);
    const room = client.rooms.get(screen.id);
    if (item && room && item.dataset.unread !== String(unreadOf(screen.id))) fillRoomItem(item, room);
    drawPageTitle();
}

/** Shows the number of unread messages of all rooms in the title of the page. */
function drawPageTitle() {
    const rooms = new Set(listed.map(({ room }) => room));
    if (screen) rooms.add(screen.id);
    const counts = [...rooms].map(unreadOf);
    const total = totalUnreadText(counts);
    const name = screen ? `${$("#room-title").textContent} – Backscroll` : "Backscroll";
    const text = total === "0" ? name : `(${total}) ${name}`;
    if (document.title !== text) document.title = text;
}

// The list of rooms

function drawRooms(rooms) {
    const wasListed = screen && listed.some(({ room }) => room === screen.id);
    listed = rooms;
    const list = $("#rooms");
    const known = new Map([...list.children].map((item) => [item.dataset.roomItem, item]));
    let next = list.firstChild;
    for (const room of rooms) {
        const item = known.get(room.room) ?? roomItem(room.room);
        known.delete(room.room);
        fillRoomItem(item, room);
        if (item === next) next = next.nextSibling;
        else list.insertBefore(item, next);
    }
    for (const item of known.values()) item.remove();
    placeTabStop();
    const open = screen && client.rooms.get(screen.id);
    if (open) {
        if (open.title) drawTitle(screen.id, open.title);
        // The first message in a new room makes its sender the owner.
        if (open.role) setRole(open.role);
    } else if (wasListed) {
        // The user may have been removed from it.
        refreshRoom(screen.id);
    }
    drawPageTitle();
}

function roomItem(id) {
    const item = element("li", { "data-room-item": id }, element("a", { href: urlOf(id), tabindex: "-1" }));
    item.firstChild.onclick = (event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go(id);
    };
    return item;
}

/** @type {WeakMap<HTMLElement, string>} The content of each item of the list. Items with unchanged content are not replaced. */
const shownRooms = new WeakMap();

function fillRoomItem(item, room) {
    const { last_message: last } = room;
    const unread = unreadOf(room.room);
    const time = last ? new Date(last.created_at) : null;
    const isToday = time?.toDateString() === new Date().toDateString();
    markCurrent(item);
    const shown = JSON.stringify([room.title, room.visibility, unread, room.epoch, last?.seq, last?.rev, isToday, time?.getTimezoneOffset()]);
    if (shownRooms.get(item) === shown) return;
    shownRooms.set(item, shown);
    item.dataset.unread = unread;
    item.firstChild.replaceChildren(
        avatar(room.title || room.room),
        element("span", { class: "what" },
            element("span", { class: "name", dir: "auto" }, room.title || room.room, room.visibility === "private" ? element("small", {}, " private") : null),
            element("span", { class: "last", dir: "auto" }, ...(last ? said(last.sender === account.me ? "You" : last.sender, summary(last)) : room.head ? [] : ["No messages yet"]))),
        element("span", { class: "when" },
            time ? element("time", { datetime: last.created_at }, (isToday ? formats().clock : formats().date).format(time)) : null,
            unread ? element("span", { class: "badge", "aria-label": `${unreadText(unread)} unread` }, unreadText(unread)) : null));
}

function markCurrent(item, room = screen?.id) {
    if (item.dataset.roomItem === room) item.firstChild.setAttribute("aria-current", "page");
    else item.firstChild.removeAttribute("aria-current");
}

/** Gives the list one stop for the tab key: the room that has the focus, or the open one. The arrow keys reach the others. */
function placeTabStop() {
    const links = [...$("#rooms").querySelectorAll("a")];
    const stop = links.find((link) => link === document.activeElement) ?? links.find((link) => link.ariaCurrent) ?? links[0];
    for (const link of links) link.tabIndex = link === stop ? 0 : -1;
}

$("#rooms").addEventListener("focusin", placeTabStop);
$("#rooms").addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const links = [...$("#rooms").querySelectorAll("a")];
    const current = links.indexOf(document.activeElement);
    const next = { ArrowUp: links[current - 1], ArrowDown: links[current + 1], Home: links[0], End: links.at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
});

// Dialogs

function wireDialogs() {
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-cancel]"))) button.onclick = () => button.closest("dialog").close();
    const rooms = $("#new-room-dialog");
    $("[data-new-room]").onclick = () => {
        rooms.querySelector("form").reset();
        rooms.querySelector(".error").textContent = "";
        rooms.showModal();
    };
    rooms.querySelector("form").onsubmit = async (event) => {
        event.preventDefault();
        const form = new FormData(event.target);
        const field = (name) => String(form.get(name)).trim();
        const id = field("id");
        const settings = { visibility: form.get("private") ? "private" : "open" };
        if (field("title")) settings.title = field("title");
        try {
            await client.rooms.make(id, settings);
        } catch (error) {
            return void (rooms.querySelector(".error").textContent = error.message);
        }
        rooms.close();
        go(id);
    };
    const members = $("#members-dialog");
    $("#members").onclick = () => {
        members.querySelector(".error").textContent = "";
        members.showModal();
        drawMembers();
    };
    $("#member-name").oninput = ({ target }) => (members.querySelector(".error").textContent = nameProblem(target.value.trim()));
    members.querySelector("form").onsubmit = async (event) => {
        event.preventDefault();
        const input = $("#member-name");
        if (!input.value.trim() || nameProblem(input.value.trim())) return;
        if (await tryMember(() => client.rooms.add(input.value.trim(), screen.id))) input.value = "";
    };
    $("#join").onclick = async () => {
        const room = screen.id;
        try {
            await client.rooms.join(room);
        } catch (error) {
            return screen.showError(error.message);
        }
        refreshRoom(room);
    };
    $("#leave").onclick = async () => {
        const room = screen.id;
        if (!(await ask(`Leave ${$("#room-title").textContent}?`, "Leave"))) return;
        if (!(await tryMember(() => client.rooms.leave(room)))) return;
        members.close();
        goBack();
    };
}

async function drawMembers() {
    const list = $("#member-list");
    const members = [];
    try {
        let answer;
        do {
            answer = await client.rooms.members(screen.id, { after: members.at(-1)?.user });
            members.push(...answer.members);
        } while (answer.hasMore && members.length < MAXIMUM_MEMBERS);
    } catch (error) {
        list.replaceChildren();
        return void ($("#members-dialog .error").textContent = error.message);
    }
    const isOwner = members.some(({ user, role }) => user === account.me && role === "owner");
    list.replaceChildren(...members.map(({ user, role }) => {
        const remove = isOwner && user !== account.me
            ? element("button", { type: "button", "aria-label": `Remove ${user}` }, "Remove") : null;
        if (remove) remove.onclick = async () => {
            if (await ask(`Remove ${user} from the room?`, "Remove")) tryMember(() => client.rooms.remove(user, screen.id));
        };
        return element("li", {}, avatar(user), element("span", { dir: "auto" }, user), role === "owner" ? element("small", {}, "owner") : null, remove);
    }));
}

async function tryMember(request) {
    try {
        await request();
    } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        $("#members-dialog .error").textContent = error.message;
        return false;
    }
    $("#members-dialog .error").textContent = "";
    await drawMembers();
    return true;
}

// Assembly

$("#back").onclick = goBack;
window.addEventListener("popstate", () => {
    const { room, at } = place();
    if (room === screen?.id && typeof at === "number") screen?.jump(at);
    else if (room !== (screen?.id ?? null)) show(room, at, true);
});
/** Finds out at once if the connections still work, and tries what waits. */
function wake() {
    client?.enterForeground();
}
window.addEventListener("online", wake);
window.addEventListener("pageshow", ({ persisted }) => persisted && wake());
document.addEventListener("resume", wake);
document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return wake();
    client?.enterBackground();
    screen?.save();
});
window.addEventListener("pagehide", () => screen?.save());
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

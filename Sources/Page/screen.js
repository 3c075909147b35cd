/**
 * The screen of a room: draws the views of the timeline, and turns the reader's actions into events and requests.
 *
 * The scrolling element mirrors the view in `data-` attributes, for tests and for style sheets.
 *
 * @module screen
 */

import { unreadToast } from "./client/index.js";
import { Pins } from "./client/pins.js";
import { dayText, firstSince, midnight } from "./calendar.js";
import { Composer } from "./composer.js";
import { ask, askReason, closeMenu, copy, drawMessages, drawPins, openMenu, openViewer, sentAt, showMessages, showMessagesError, showsMessages } from "./dialogs.js";
import { List } from "./list.js";
import { BLOCKED_TEXT, EMOJI, LIKE, NAMED_USERS, contentOf, picker, picturesOf, rowNode, stateOf, unreadCount } from "./message.js";
import { networkText, serverNow } from "./network.js";
import { membersOf, nameOf } from "./people.js";
import { Quotes } from "./quotes.js";
import { session } from "./session.js";
import { $, durationText, element, formats, numberText, said, sentence, summary, unreadText } from "./text.js";
import { problemText, texts } from "./texts.js";

/** Maximum time between two taps that count as a like, in milliseconds. */
const DOUBLE_TAP_MILLISECONDS = 320;
/** Maximum distances of the movement of a tap, and between two taps that count as a like, in CSS pixels. */
const TAP_DISTANCE = 10;
const DOUBLE_TAP_DISTANCE = 40;
/** Time after which a touch that stays opens the menu of a message, in milliseconds. */
const LONG_PRESS_MILLISECONDS = 500;
/** Minimum time before scrolling loads a failed edge again, in milliseconds. */
const RETRY_MILLISECONDS = 1000;
/** Time for which a button says that it has copied, in milliseconds. */
const COPIED_MILLISECONDS = 1500;
/** Maximum number of names in "Read by" below a message. */
const MAXIMUM_READERS = 3;
/** Number of seconds from which on a time left is told in minutes. */
const SHOWN_SECONDS = 120;
/** Time after scrolling for which the date stays over the list, in milliseconds. */
const DATE_MILLISECONDS = 1500;
const PINS_TITLE = texts.pinnedMessages;

/**
 * @typedef {import("./client/index.js").Row} Row
 * @typedef {import("./client/index.js").Message} Message
 * @typedef {import("./client/index.js").RoomView} RoomView
 *
 * @typedef {Row & {seq: number, message: Message}} StoredRow
 * @typedef {{seq: number, offset: number}} Place A message, and its distance from the top of the list.
 */

/** True if the page is in front of the user. */
const isInFront = () => !document.hidden && document.hasFocus();

/**
 * Sets a text if it has changed. Browsers repeat the layout even if the same text is set again.
 *
 * @param {HTMLElement} node
 * @param {string} text
 */
function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
}

/**
 * Sets the content to nodes and texts, if that changes the text.
 *
 * @param {HTMLElement} node
 * @param {(Node | string)[]} parts
 */
function setContent(node, parts) {
    const text = parts.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
    if (node.textContent !== text) node.replaceChildren(...parts);
}

/**
 * @param {HTMLElement} node
 * @param {boolean} isHidden
 */
function setHidden(node, isHidden) {
    if (node.hidden !== isHidden) node.hidden = isHidden;
}

/** A time in a text of the server, such as the end of a ban. */
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/;

/**
 * Returns the nodes of a text of the server, with its first time as the reader writes it.
 *
 * @param {string} text
 */
function withLocalTime(text) {
    const [time] = text.match(TIME) ?? [];
    if (!time) return [text];
    const [before, ...after] = text.split(time);
    return [before, element("time", { datetime: time }, formats().exact.format(new Date(time))), after.join(time)];
}

/** @param {Element} node */
function placeBelow(node) {
    const { left, bottom } = node.getBoundingClientRect();
    return { x: left, y: bottom + 4 };
}

/** @param {number} seconds */
const timeLeft = (seconds) => durationText(seconds < SHOWN_SECONDS ? seconds : Math.ceil(seconds / 60) * 60, "short", SHOWN_SECONDS);

/** @type {(row: Row | undefined) => row is StoredRow} True if a row has a stored message, perhaps a deleted one. */
const isStored = (row) => row?.message !== undefined && row.seq !== undefined;

/**
 * Returns the newest stored message of others after `seq`, if it is among the last rows.
 *
 * @param {RoomView} view
 * @param {number} seq
 */
function newestOfOthers({ chunks }, seq) {
    const last = chunks.slice(-2).flat();
    return last.findLast((row) => row.state === "stored" && !row.mine && (row.seq ?? 0) > seq)?.message;
}

export class Screen {
    #me;
    #client;
    #room;
    /** The request for the frame in which the room is drawn; 0 if there is none, -1 without a frame. */
    #drawing = 0;
    #unsubscribe;
    /** @type {RoomView["scroll"]} The latest place to which the list was scrolled. */
    #scrolled = null;
    /** @type {List} */
    #list;
    /** @type {Composer} */
    #composer;
    /** @type {RoomView | null} */
    #view = null;
    /** @type {Map<string, {users: string[], more: number}>} The users to show below own messages, by the row's key: those who have read up to there. */
    #readers = new Map();
    /** True to show how many members have not read each message. */
    #countsUnread = false;
    /** The highest read mark of another user. */
    #readUpTo = 0;
    /** @type {RoomView["readership"]} */
    #readership = null;
    /** @type {Quotes} */
    #quotes;
    /** @type {Map<string, boolean>} If the user has reacted, by `seq` and key, as known from requests. */
    #reacted = new Map();
    /** @type {Map<number, Map<string, boolean>>} The reactions that are being stored (true) or removed, by `seq` and key. */
    #wanted = new Map();
    /** Number of jumps that have not reached their place. */
    #jumps = 0;
    /** @type {string | null} */
    #epoch = null;
    /** @type {Place | null} The place at which the reader left the room, until it is shown again. */
    #returning = null;
    /** The key in the session's storage of the place. */
    #placeKey;
    #canReturn = false;
    /** @type {number | undefined} The timer that hides the date over the list. */
    #dateTimer = undefined;
    #isOwner = false;
    #canPin = false;
    /** @type {{seq: number, count: number} | null} The first unread message that mentions the user, and how many do. */
    #mention = null;
    /** True if the room is one in which only owners may send, and the user is none. Admins, whom the page does not know, may all the same. */
    #isRestricted = false;
    /** The seconds between two messages of the user; 0 without slow mode. */
    #slowSeconds = 0;
    /** @type {number | undefined} */
    #slowTimer = undefined;
    /** @type {Pins} */
    #pins;
    /** @type {Promise<string[]> | null} The members, once they are needed. */
    #members = null;
    /** @type {string | null} The ban that is shown. */
    #ban = null;
    #announced = 0;
    /** @type {{x: number, y: number} | null} The place of a touch that may become a tap. */
    #touch = null;
    /** @type {{key: string | undefined, at: number, x: number, y: number} | null} */
    #lastTap = null;
    /** @type {number | undefined} The timer of a touch that may become a long press. */
    #pressing = undefined;
    #failedAt = { before: 0, after: 0 };
    /** @type {RoomView["connection"]} */
    #connection = "offline";
    #isDrawing = false;
    /** True once the room can no longer be shown. */
    isEnded = false;
    #abort = new AbortController();

    /**
     * @param {import("./client/index.js").Client} client
     * @param {string} me The user.
     * @param {string} id
     * @param {"read" | "last" | number | undefined} at The place at which the room opens; by default where the user left off.
     * @param {object} app
     * @param {boolean} [app.isReturn] True to open the room where the reader left it in this window, unless that was its end.
     * @param {(view: RoomView) => void} app.onChange Called when the view has changed.
     * @param {(seq: number, from: Place | null) => void} app.onJump Called before a jump to a message, with the place that it leaves.
     */
    constructor(client, me, id, at, { isReturn, onChange, onJump }) {
        this.#me = me;
        this.#client = client;
        this.id = id;
        this.scroller = $("[data-timeline]");
        this.#placeKey = `backscroll.place.${me}/${id}`;
        $("#ended").hidden = $("#ban").hidden = true;
        this.onChange = onChange;
        this.onJump = onJump;
        this.#room = client.room(id);
        this.#room.setActive(isInFront());
        const unsubscribe = [
            this.#room.subscribe(() => this.#drawSoon()),
            client.blocks.subscribe(() => {
                this.#list.redraw();
                this.#drawPins();
            }),
            this.#room.onMessage((message) => {
                this.#quotes.take(message);
                this.#composer.refresh(message);
            }),
        ];
        this.#pins = new Pins(client, this.#room);
        unsubscribe.push(this.#pins.subscribe(() => this.#drawPins()), () => this.#pins.close());
        this.#drawPins();
        this.#unsubscribe = () => unsubscribe.forEach((end) => end());
        if (isReturn) this.#returning = JSON.parse(session.get(this.#placeKey) ?? "null");
        // First, so that the rest is done while the request is under way. The view shows a failure.
        this.#room.open({ at: this.#returning?.seq ?? at }).catch(() => {});
        this.#room.followReads();
        this.#quotes = new Quotes({
            load: (seq) => this.#room.loadMessage(seq), inWindow: (seq) => this.#room.message(seq), redraw: (keys) => this.#list.redraw(keys),
        });
        this.#list = new List(this.scroller, $("#messages"), (...row) => rowNode(...row, this.#context), () => this.#moved(), () => this.#showDate());
        this.#composer = new Composer(me, id, {
            send: (draft) => this.#send(draft),
            edit: (message, text, mentions) => this.#edit(message, text, mentions),
            type: () => this.#room.typing(),
            editLast: () => this.#editLast(),
            users: () => this.#users(),
        });
        this.#listen();
        // The attributes describe the room before until this room's first view is drawn.
        this.#mirror(this.#room.view);
        // Created now, because there is nothing else to do until the messages arrive.
        formats();
    }

    close() {
        this.save();
        this.#abort.abort();
        this.#unsubscribe();
        cancelAnimationFrame(this.#drawing);
        this.#drawing = 0;
        clearTimeout(this.#pressing);
        clearTimeout(this.#slowTimer);
        this.#hideDate();
        closeMenu();
        this.scroller.ariaBusy = null;
        this.#composer.close();
        this.#list.close();
        this.#room.close();
    }

    /**
     * Shows a message, and loads the messages around it if needed. The list is marked until they are there.
     *
     * @param {number | "last"} to
     */
    async jump(to) {
        this.#jumps++;
        this.scroller.ariaBusy = "true";
        await this.#room.jump(to).catch(() => {});
        if (--this.#jumps === 0 && !this.#abort.signal.aborted) this.scroller.ariaBusy = null;
    }

    /**
     * Shows a message that is elsewhere, so that the reader can return.
     *
     * @param {number} to
     */
    leap(to) {
        this.onJump(to, this.#list.place);
        this.jump(to);
    }

    /**
     * Returns to a place that a jump has left.
     *
     * @param {Place} place
     */
    returnTo(place) {
        this.#returning = place;
        this.jump(place.seq);
    }

    /**
     * Sets whether there is a way back after a jump.
     *
     * @param {boolean} canReturn
     */
    setCanReturn(canReturn) {
        this.#canReturn = canReturn;
        setHidden($("[data-return]"), !canReturn);
    }

    /** The time of the first visible message, or now. */
    get shownTime() {
        const seq = this.#list.place?.seq;
        const time = seq === undefined ? undefined : this.#room.message(seq)?.created_at;
        return time === undefined ? new Date() : new Date(time);
    }

    /**
     * Shows the first message since a time. Returns false if there is none.
     *
     * @param {Date} time
     */
    async goToTime(time) {
        const { head } = await this.#client.rooms.summary(this.id);
        const seq = await firstSince(this.#client, this.id, head, time);
        if (seq === null) return false;
        if (!this.#abort.signal.aborted) this.leap(seq);
        return true;
    }

    /** Stores what would be lost with the page: the window, the read mark, and the reader's place in this browser window. */
    save() {
        this.#room.save();
        if (!this.#view || this.#view.epoch === null) return;
        const isAtEnd = this.#list.layout.isAtBottom && this.#view.after === "end";
        session.set(this.#placeKey, isAtEnd ? null : JSON.stringify(this.#list.place));
    }

    /**
     * True for a message of a blocked user, which is not shown outside its row.
     *
     * @param {Message} message
     */
    #isFolded({ sender }) {
        return this.#client.blocks.view.has(sender);
    }

    /** Redraws what depends on today's date. */
    calendarChanged() {
        this.#list.redraw();
    }

    /** The number of unread messages; null while the room has not been loaded. */
    get unread() {
        return this.#view === null || this.#view.epoch === null ? null : this.#view.unread;
    }

    /**
     * Shows an error to the reader.
     *
     * @param {string} text
     */
    showError(text) {
        this.#composer.showError(text);
    }

    /**
     * Takes the state of the room, which says what the user may do. Owners may delete the messages of others.
     *
     * @param {import("./client/index.js").RoomSummary | null} room
     */
    setRoom(room) {
        const isOwner = room?.role === "owner";
        this.#canPin = isOwner || (room?.role === "member" && room.pinning === "members");
        this.#isRestricted = room?.posting === "owners" && !isOwner;
        this.#mention = room?.unread_mentions ? { seq: room.first_unread_mention ?? 0, count: room.unread_mentions } : null;
        this.#showMention();
        this.#slowSeconds = isOwner ? 0 : room?.slow_seconds ?? 0;
        this.#showLimits();
        this.#isOwner = isOwner;
    }

    // Drawing

    /** @type {import("./message.js").Context} */
    get #context() {
        const readUpTo = this.#readUpTo;
        return {
            me: this.#me,
            quoted: (seq, key) => this.#quotes.message(seq, key), readBy: (key) => this.#readers.get(key) ?? { users: [], more: 0 },
            hasReacted: (message, key) => this.#hasReacted(message, key) ?? false, wanted: (seq) => this.#wanted.get(seq),
            isFolded: (message) => this.#isFolded(message),
            isRead: (seq) => seq !== undefined && seq <= readUpTo,
            readership: this.#readership, countsUnread: this.#countsUnread,
        };
    }

    /**
     * Sets whether each message has the number of members who have not read it.
     *
     * @param {boolean} countsUnread
     */
    setCountsUnread(countsUnread) {
        if (this.#countsUnread === countsUnread) return;
        this.#countsUnread = countsUnread;
        this.#list.redraw();
    }

    /** Shows changed names and pictures. */
    redraw() {
        this.#list.redraw();
        this.#drawPins();
        if (this.#view && !this.isEnded) this.#drawAround(this.#view);
    }

    /** Loads the members again, who have changed. */
    renewMembers() {
        this.#members = null;
        this.#room.followReads();
    }

    /** Draws the room in the next frame. A page in the background has none, but its title and badges must change. */
    #drawSoon() {
        if (this.#drawing) return;
        const draw = () => {
            this.#drawing = 0;
            this.#draw(this.#room.view);
        };
        if (document.hidden) queueMicrotask(() => this.#drawing === -1 && draw());
        this.#drawing = document.hidden ? -1 : requestAnimationFrame(draw);
    }

    /** @param {RoomView} view */
    #draw(view) {
        if (this.isEnded) return;
        if (view.ending !== null) return this.#showEnd(view.ending);
        const scrollTo = view.scroll === this.#scrolled ? null : view.scroll?.to ?? null;
        this.#scrolled = view.scroll;
        this.#showBan(view.ban);
        this.#view = view;
        this.#mirror(view);
        const moved = this.#placeReaders();
        // Before the list measures its rows, so that one layout is enough.
        this.#drawAround(view);
        // Drawing moves the list several times. The machine is told once, at the end.
        this.#isDrawing = true;
        this.#list.update(view.chunks, view.after === "end", scrollTo);
        this.#list.redraw(moved);
        if (view.epoch !== this.#epoch) {
            this.#quotes.clear();
            this.#reacted.clear();
        }
        this.#epoch = view.epoch;
        this.#quotes.update((key) => this.#list.node(key) !== undefined);
        if (view.connection === "live" && this.#connection !== "live") this.#quotes.retry();
        this.#connection = view.connection;
        if (scrollTo !== null && scrollTo !== "bottom") this.#scrollToRow(scrollTo);
        this.#isDrawing = false;
        this.#announce(view);
        this.#moved();
        if (this.#slowSeconds) this.#showLimits();
        this.onChange(view);
    }

    /**
     * Writes the state of the view into the attributes of the scrolling element.
     *
     * @param {RoomView} view
     */
    #mirror({ phase, before, after, connection, unread }) {
        const { dataset } = this.scroller;
        for (const [name, value] of Object.entries({ phase, before, after, connection, unread })) {
            if (dataset[name] !== String(value)) dataset[name] = String(value);
        }
    }

    /** @param {string} key */
    #scrollToRow(key) {
        const place = this.#returning;
        this.#returning = null;
        const row = this.#view?.chunks.flat().find((row) => row.key === key);
        // The layout rounds down, so that without a half the place would move by a pixel each time.
        if (place && row?.seq === place.seq) return this.#list.scrollTo(key, (place.offset + 0.5) / this.scroller.clientHeight);
        // The unread line goes near the top, so that the unread messages are visible below it. A message goes near the
        // middle.
        this.#list.scrollTo(key, key === "unread" ? 0.25 : 0.4);
        const node = this.#list.node(key);
        if (key !== "unread" && node) {
            node.removeAttribute("data-found");
            void node.offsetWidth;
            node.setAttribute("data-found", "");
            // Not from a text field, in which the reader may have begun to write, nor where a link has led.
            if (!document.activeElement?.matches("body, input, textarea")) node.focus({ preventScroll: true });
        }
    }

    /** @param {RoomView} view */
    #drawAround(view) {
        const edges = { loading: texts.loading, failed: texts.loadFailed, idle: "", end: "" };
        setText($("[data-edge=before]"), edges[view.before]);
        setText($("[data-edge=after]"), edges[view.after]);
        this.showNetwork();
        this.#drawEmpty(view);
        setText($("[data-online]"), view.online === null ? "" : texts.here(numberText(view.online)));
        const typing = view.typing.slice(0, 3).map(nameOf);
        setContent($("[data-typing]"), !typing.length ? []
            : view.typing.length > 3 ? [texts.manyType]
                : sentence(texts.typing(typing.length)[0], typing, texts.typing(typing.length)[1]));
        const toast = $("[data-toast]");
        const news = unreadToast(view);
        setHidden(toast, news === null);
        if (news) {
            toast.dataset.count = String(news.count);
            const newest = this.#room.message(news.seq);
            const words = newest && !this.#isFolded(newest) ? said(nameOf(newest.sender), summary(newest)) : [texts.newMessages];
            setContent(toast, news.count > 1 ? [...words, texts.newCount(numberText(news.count))] : words);
        } else {
            delete toast.dataset.count;
        }
    }

    /**
     * Says why there is nothing to read.
     *
     * @param {RoomView} view
     */
    #drawEmpty({ phase, before, after, chunks, connection }) {
        const isLoading = phase === "initial";
        const isEmpty = !isLoading && before === "end" && after === "end" && !chunks.some(({ length }) => length);
        setHidden($("#empty"), !isLoading && !isEmpty);
        setText($("#empty-title"), isEmpty ? texts.noMessages : networkText(connection));
        setText($("#empty-text"), !isEmpty ? texts.willLoad : this.#isRestricted ? "" : texts.writeFirst);
    }

    /** Tells the state of the connection. */
    showNetwork() {
        setText($("#connection"), networkText(this.#room.view.connection));
    }

    /** Shows the button that goes to the first unread mention. */
    #showMention() {
        const button = $("[data-to-mention]");
        const mention = this.unread === 0 ? null : this.#mention;
        setHidden(button, mention === null);
        if (!mention) return;
        const text = unreadText(mention.count);
        setText($("[data-to-mention] .badge"), text);
        button.title = button.ariaLabel = texts.toMention(text);
    }

    #drawPins() {
        drawPins(this.#pins.view, (message) => this.#isFolded(message));
        if (showsMessages(PINS_TITLE)) drawMessages(this.#pinList);
    }

    /** @returns {import("./dialogs.js").List} */
    get #pinList() {
        return {
            title: PINS_TITLE, empty: texts.noPins, messages: this.#pins.view, isFolded: (message) => this.#isFolded(message),
            about: (message) => `${sentAt(message)} · ${texts.pinnedBy(nameOf(message.pinned?.by ?? ""))}`,
            go: ({ seq }) => this.leap(seq), unpin: this.#canPin ? ({ seq }) => this.#unpin(seq) : null,
        };
    }

    /** @param {number} seq */
    async #unpin(seq) {
        try {
            await this.#pins.unpin(seq);
        } catch (error) {
            showMessagesError(problemText(error));
        }
    }

    /**
     * Shows why the user may not write, and until when. Reading goes on.
     *
     * @param {string | null} detail
     */
    #showBan(detail) {
        if (detail === this.#ban) return;
        this.#ban = detail;
        setHidden($("#ban"), detail === null);
        if (detail !== null) $("#ban").replaceChildren(...withLocalTime(texts.banned(detail)));
    }

    /**
     * Shows why the room has ended.
     *
     * @param {import("./client/index.js").ClientError} ending
     */
    #showEnd(ending) {
        const back = element("button", { type: "button", class: "primary" }, texts.backToRooms);
        back.onclick = () => $("#back").click();
        $("#ended").replaceChildren(element("p", {}, ...withLocalTime(problemText(ending))), back);
        $("#ended").hidden = false;
        $("#ended").classList.toggle("alone", !this.#view?.chunks.length);
        this.scroller.dataset.connection = "ended";
        this.isEnded = true;
    }

    /**
     * Announces new messages of others to screen readers.
     *
     * @param {RoomView} view
     */
    #announce(view) {
        const last = newestOfOthers(view, this.#announced);
        if (!last) return;
        if (this.#announced && view.connection === "live" && view.after === "end") {
            setText($("#announcer"), this.#isFolded(last) ? BLOCKED_TEXT : `${nameOf(last.sender)}: ${summary(last)}`);
        }
        this.#announced = last.seq;
    }

    /**
     * Assigns each reader to the last own message that they have read, and takes who has read what.
     *
     * @returns {Set<string>} The keys of the rows whose readers, ticks or numbers have changed.
     */
    #placeReaders() {
        const placed = new Map();
        for (const [user, mark] of this.#room.view.readers) {
            const row = this.#room.lastOwnRow(mark);
            if (!row) continue;
            const read = placed.get(row.key) ?? { users: [], more: 0 };
            if (read.users.length < MAXIMUM_READERS) read.users.push(user);
            else read.more++;
            placed.set(row.key, read);
        }
        const before = this.#readers;
        this.#readers = placed;
        const text = (/** @type {{users: string[], more: number} | undefined} */ read) => (read ? `${read.users} ${read.more}` : "");
        const changed = new Set([...before.keys(), ...placed.keys()].filter((key) => text(before.get(key)) !== text(placed.get(key))));
        const was = this.#context;
        const { readers, readership } = this.#room.view;
        this.#readUpTo = Math.max(0, ...readers.values());
        this.#readership = readership;
        const is = this.#context;
        const { rows } = this.#list;
        for (const [index, row] of rows.entries()) {
            const ticks = row.mine && stateOf(row, was) !== stateOf(row, is);
            if (ticks || unreadCount(row, was) !== unreadCount(row, is)) changed.add(row.key);
            // The row above has ticks of its own only if they differ.
            if (ticks && index) changed.add(rows[index - 1].key);
        }
        return changed;
    }

    // Moving

    /**
     * Tells the machine where the reader is, and asks for pages near the edges. Not by `ListReporter` of backscroll/list, which asks for a
     * failed edge once: here each scroll tries again, after a second at the earliest, as the text at the edge says.
     */
    #moved() {
        const view = this.#view;
        if (!view || this.#isDrawing || this.isEnded) return;
        const { layout } = this.#list;
        const { isAtBottom: atBottom, lastVisible } = layout;
        setHidden($("[data-to-latest]"), atBottom && view.after === "end");
        setHidden($("[data-return]"), !this.#canReturn || (atBottom && view.after === "end"));
        this.#showMention();
        setText($("[data-to-latest] .badge"), view.unread > 0 ? unreadText(view.unread) : "");
        // Told after each drawing: the machine may believe that what has come moved the reader.
        this.#room.setViewport({ atBottom, lastVisible });
        // The first chunk has a stored message, unless all rows are unsent.
        if (!view.chunks[0]?.some(({ seq }) => seq !== undefined)) return;
        for (const edge of /** @type {const} */ (["before", "after"])) {
            const state = view[edge];
            if (state === "failed" && performance.now() - this.#failedAt[edge] < RETRY_MILLISECONDS) continue;
            if ((state !== "idle" && state !== "failed") || !layout.isNear(edge)) continue;
            if (state === "failed") this.#failedAt[edge] = performance.now();
            if (edge === "before") this.#room.loadBefore();
            else this.#room.loadAfter();
        }
    }

    /** Shows the day of the first visible message over the list, while the reader scrolls and no line above it tells the day. */
    #showDate() {
        const node = $("[data-date]");
        const day = midnight(this.shownTime);
        const line = this.#list.node(`day/${day.toISOString().slice(0, 10)}`);
        setText(node, dayText(day));
        setHidden(node, line !== undefined && line.getBoundingClientRect().bottom > this.scroller.getBoundingClientRect().top);
        clearTimeout(this.#dateTimer);
        this.#dateTimer = setTimeout(() => this.#hideDate(), DATE_MILLISECONDS);
    }

    #hideDate() {
        clearTimeout(this.#dateTimer);
        setHidden($("[data-date]"), true);
    }

    // The reader's actions

    #listen() {
        const options = { signal: this.#abort.signal };
        const active = () => this.#room.setActive(isInFront());
        document.addEventListener("visibilitychange", active, options);
        window.addEventListener("focus", active, options);
        window.addEventListener("beforeprint", () => this.#list.setWhole(true), options);
        window.addEventListener("afterprint", () => this.#list.setWhole(false), options);
        $("[data-edge=before]").addEventListener("click", () => this.#view?.before === "failed" && this.#room.loadBefore(), options);
        $("[data-edge=after]").addEventListener("click", () => this.#view?.after === "failed" && this.#room.loadAfter(), options);
        window.addEventListener("blur", active, options);
        $("[data-toast]").addEventListener("click", () => this.jump("last"), options);
        $("[data-to-mention]").addEventListener("click", () => this.#mention && this.leap(this.#mention.seq), options);
        $("#pin-latest").addEventListener("click", () => this.#pins.view[0] && this.leap(this.#pins.view[0].seq), options);
        $("#pin-list").addEventListener("click", () => showMessages(this.#pinList), options);
        $("[data-to-latest]").addEventListener("click", () => this.jump("last"), options);
        const messages = $("#messages");
        messages.addEventListener("click", (event) => this.#clicked(event), options);
        messages.addEventListener("dblclick", (event) => this.#doubleClicked(event), options);
        for (const type of ["pointerover", "focusin"]) messages.addEventListener(type, (event) => this.#nameReactors(event), options);
        messages.addEventListener("contextmenu", (event) => this.#openContextMenu(event), options);
        for (const type of /** @type {const} */ (["pointerdown", "pointermove", "pointerup", "pointercancel"])) {
            messages.addEventListener(type, (event) => event.pointerType === "touch" && this.#touched(event), options);
        }
        this.scroller.addEventListener("keydown", (event) => this.#keyPressed(event), options);
        // One stop for the tab key: the list itself, or the message or control that has the focus.
        this.scroller.addEventListener("focusin", ({ target }) => (this.scroller.tabIndex = target === this.scroller ? 0 : -1), options);
        this.scroller.addEventListener("focusout", () => (this.scroller.tabIndex = 0), options);
    }

    /** @param {Element} target */
    #rowOf(target) {
        const key = /** @type {HTMLElement | null} */ (target.closest("[data-key]"))?.dataset.key;
        return key === undefined ? undefined : this.#list.row(key);
    }

    /** @param {MouseEvent} event */
    #clicked(event) {
        const { target } = event;
        if (!(target instanceof Element)) return;
        const button = target.closest("button");
        const row = this.#rowOf(target);
        /** @type {HTMLElement | null} */
        const picture = target.closest("[data-view]");
        // With another key, a link opens as the browser does it.
        if (picture && row && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
            event.preventDefault();
            return this.#showPicture(row, Number(picture.dataset.view));
        }
        if (!button || !row) return;
        const { dataset } = button;
        const id = row.draft?.client_message_id ?? row.message?.client_message_id;
        if (dataset.retry !== undefined && id !== undefined) this.#room.retry(id);
        else if (dataset.discard !== undefined && id !== undefined) this.#room.discard(id);
        else if (dataset.jump !== undefined) this.leap(Number(dataset.jump));
        else if (dataset.copy !== undefined) this.#copyCode(button);
        else if (dataset.edit !== undefined) this.#editRow(row);
        else if (!isStored(row)) return;
        else if (dataset.show !== undefined) this.#unfold(row);
        else if (dataset.react !== undefined) this.#react(row, dataset.react);
        else if (dataset.reaction !== undefined) this.#react(row, dataset.reaction);
        else if (dataset.pick !== undefined) this.#pick(button);
        else if (dataset.reply !== undefined) this.#composer.reply(row.message);
        else if (dataset.delete !== undefined) this.#delete(row);
        else if (dataset.menu !== undefined) this.#openMenu(row, placeBelow(button));
    }

    /**
     * Loads the names in the tooltip of a reaction. They are not loaded with each message, because few are looked at.
     *
     * @param {Event} event
     */
    #nameReactors({ target }) {
        const button = target instanceof Element ? target.closest("[data-reaction]") : null;
        const message = button ? this.#rowOf(button)?.message : undefined;
        const reaction = message?.reactions?.find(({ key }) => key === button?.getAttribute("data-reaction"));
        reaction?.users.slice(0, NAMED_USERS).forEach(nameOf);
    }

    /**
     * Shows a picture large. The keys and gestures go on to the others of the window.
     *
     * @param {Row} row
     * @param {number} index The picture's place in its message.
     */
    #showPicture(row, index) {
        const rows = (this.#view?.chunks.flat() ?? []).filter(({ state, message }) => state && !message?.deleted && !(message && this.#isFolded(message)));
        const pictures = rows.flatMap((each) => {
            const message = contentOf(each, this.#me);
            return picturesOf(message).map((picture, place) => ({ ...picture, message, isFirst: each.key === row.key && place === index }));
        });
        openViewer(pictures, pictures.findIndex(({ isFirst }) => isFirst));
    }

    /** @param {HTMLElement} button */
    #copyCode(button) {
        copy(button.closest(".code")?.querySelector("code")?.textContent ?? "").then(() => {
            $("#announcer").textContent = texts.codeCopied;
            button.dataset.copied = "";
            setTimeout(() => delete button.dataset.copied, COPIED_MILLISECONDS);
        });
    }

    /**
     * Shows a message of a blocked user.
     *
     * @param {StoredRow} row
     */
    #unfold(row) {
        this.#room.show(row.seq);
        this.#list.node(row.key)?.focus({ preventScroll: true });
    }

    /**
     * Opens the menu of a message instead of the browser's own, which stays for links, media and selected text.
     *
     * @param {MouseEvent} event
     */
    #openContextMenu(event) {
        const { target, clientX: x, clientY: y } = event;
        const selection = getSelection();
        if (!(target instanceof Element) || target.closest("a:not([data-view]), video, audio")) return;
        const isSelected = selection && !selection.isCollapsed
            && (selection.containsNode(target, true) || target.contains(selection.getRangeAt(0).commonAncestorContainer));
        if (isSelected) return;
        if (this.#openMenuOf(target, { x, y })) event.preventDefault();
    }

    /**
     * Opens the menu of the message that has an element. Returns false if the message has none.
     *
     * @param {Element} target
     * @param {{x: number, y: number}} [place] By default below the message.
     */
    #openMenuOf(target, place) {
        const row = this.#rowOf(target);
        const bubble = target.closest(".row")?.querySelector(".bubble");
        if (!isStored(row) || row.state !== "stored" || !bubble) return false;
        this.#openMenu(row, place ?? placeBelow(bubble));
        return true;
    }

    /**
     * @param {StoredRow} row
     * @param {{x: number, y: number}} place
     */
    #openMenu(row, place) {
        clearTimeout(this.#pressing);
        this.#touch = this.#lastTap = null;
        this.#closePicker();
        const { seq, message } = row;
        const { text = "" } = message;
        const isMine = message.sender === this.#me;
        const announce = (/** @type {string} */ said) => ($("#announcer").textContent = said);
        const { sender } = message;
        const isBlocked = this.#isFolded(message);
        const link = `${location.origin}/?${new URLSearchParams({ room: this.id, at: String(seq) })}`;
        const name = nameOf(sender);
        openMenu(place, row.folded ? BLOCKED_TEXT : `${name}: ${summary(message)}`, formats().exact.format(new Date(message.created_at)), { emoji: EMOJI, react: (key) => this.#react(row, key) }, [
            ...(row.folded ? [{ name: "show", label: texts.show, run: () => this.#unfold(row) }] : []),
            { name: "reply", label: texts.reply, run: () => this.#composer.reply(this.#room.message(seq) ?? message) },
            ...(text ? [{ name: "copy", label: texts.copyText, run: () => copy(text).then(() => announce(texts.textCopied)) }] : []),
            { name: "link", label: texts.copyLink, run: () => copy(link).then(() => announce(texts.linkCopied)) },
            ...(this.#canPin ? [message.pinned ? { name: "unpin", label: texts.unpin, run: () => this.#try(() => this.#pins.unpin(seq)) }
                : { name: "pin", label: texts.pin, run: () => this.#try(() => this.#pins.pin(seq)) }] : []),
            ...(isMine ? [{ name: "edit", label: texts.edit, run: () => this.#composer.edit(this.#room.message(seq) ?? message) }] : []),
            ...(isMine || this.#isOwner ? [{ name: "delete", label: texts.deleteDots, isDangerous: true, run: () => this.#delete(row) }] : []),
            ...(isMine ? [] : [
                { name: "report", label: texts.reportDots, isDangerous: true, run: () => this.#report(seq) },
                { name: "block", label: isBlocked ? texts.unblockOf(name) : texts.blockOf(name), isDangerous: !isBlocked, run: () => this.#setBlock(sender, !isBlocked) },
            ]),
        ]);
    }

    /**
     * Asks for a reason, and reports a message to the moderators.
     *
     * @param {number} seq
     */
    async #report(seq) {
        const report = await askReason();
        if (!report) return;
        await this.#try(async () => {
            await this.#room.report(seq, report.reason, report.note ? { note: report.note } : {});
            this.#composer.showNotice(texts.reported);
        });
    }

    /**
     * @param {string} user
     * @param {boolean} isBlocked
     */
    async #setBlock(user, isBlocked) {
        if (isBlocked && !(await ask(texts.askBlock(nameOf(user)), texts.block))) return;
        await this.#try(() => (isBlocked ? this.#client.blocks.block(user) : this.#client.blocks.unblock(user)));
    }

    /** @param {HTMLElement} button */
    #pick(button) {
        const place = button.closest(".said");
        const wasOpen = Boolean(place?.querySelector(".picker"));
        this.#closePicker();
        if (wasOpen || !place) return;
        const opened = picker();
        place.append(opened);
        opened.querySelector("button")?.focus();
    }

    /** Closes the open picker, if any, and returns the focus to the element that opened it. */
    #closePicker() {
        const open = document.querySelector("#messages .picker");
        if (!open) return false;
        const hadFocus = open.contains(document.activeElement);
        /** @type {HTMLElement | null | undefined} */
        const button = open.closest(".said")?.querySelector("[data-pick]");
        open.remove();
        if (hadFocus) button?.focus({ preventScroll: true });
        return true;
    }

    /**
     * Adds or removes a reaction.
     *
     * @param {StoredRow} row
     * @param {string} key
     */
    #react(row, key) {
        this.#closePicker();
        return this.#try(async () => {
            const hasReacted = this.#wants(row.message, key) ?? (await this.#room.hasReacted(row.seq, key));
            await this.#setReaction(row, key, !hasReacted);
        });
    }

    /**
     * Shows a reaction at once, and stores it. A refused one is taken back.
     *
     * @param {StoredRow} row
     * @param {string} key
     * @param {boolean} isOn
     */
    async #setReaction({ seq, key: row }, key, isOn) {
        const wanted = this.#wanted.get(seq) ?? new Map();
        const isStoring = wanted.has(key);
        this.#wanted.set(seq, wanted.set(key, isOn));
        this.#list.redraw([row]);
        // The request that is under way is followed by one for what is wanted then.
        if (isStoring) return;
        try {
            for (let stored; stored !== wanted.get(key); ) {
                stored = wanted.get(key);
                await (stored ? this.#room.react(seq, key) : this.#room.unreact(seq, key));
                this.#reacted.set(`${seq} ${key}`, stored);
            }
        } finally {
            wanted.delete(key);
            if (!wanted.size) this.#wanted.delete(seq);
            if (!this.#abort.signal.aborted) {
                // With the answer, so that the reaction does not disappear for a moment.
                this.#draw(this.#room.view);
                this.#list.redraw([row]);
            }
        }
    }

    /**
     * Returns true if the user has reacted so, or is about to; undefined if that is not known.
     *
     * @param {Message} message
     * @param {string} key
     */
    #wants(message, key) {
        return this.#wanted.get(message.seq)?.get(key) ?? this.#hasReacted(message, key);
    }

    /**
     * Returns true if the user has reacted so; undefined if a reaction does not list all its users and it is not known.
     *
     * @param {Message} message
     * @param {string} key
     */
    #hasReacted({ seq, reactions }, key) {
        const reaction = reactions?.find((reaction) => reaction.key === key);
        if (!reaction || reaction.users.includes(this.#me)) return reaction !== undefined;
        return reaction.count > reaction.users.length ? this.#reacted.get(`${seq} ${key}`) : false;
    }

    /** @param {StoredRow} row */
    async #delete(row) {
        const text = summary(row.message);
        if (!(await ask(texts.askDelete(text), texts.delete))) return;
        await this.#try(() => this.#room.remove(row.seq));
    }

    /**
     * Likes a message by a double click beside its text. A double click on the text selects a word.
     *
     * @param {Event} event
     */
    #doubleClicked({ target }) {
        if (!(target instanceof Element) || !target.closest(".bubble") || target.closest(".text, .tombstone")) return;
        if (this.#like(target)) getSelection()?.removeAllRanges();
    }

    /**
     * Returns false if there is nothing to like.
     *
     * @param {Element} target
     */
    #like(target) {
        const row = this.#rowOf(target);
        if (!isStored(row) || row.state !== "stored" || row.message.deleted || target.closest("button, a, video, audio, pre")) return false;
        // Liking a message again changes nothing.
        if (!this.#wants(row.message, LIKE)) this.#try(() => this.#setReaction(row, LIKE, true));
        return true;
    }

    /**
     * Likes a message by two taps of one finger, and opens its menu by one that stays. A second finger, as for zooming, or a movement is
     * no tap.
     *
     * @param {PointerEvent} event
     */
    #touched({ type, target, isPrimary, timeStamp, clientX: x, clientY: y }) {
        if (!(target instanceof Element)) return;
        if (type === "pointermove") {
            if (!this.#touch || Math.hypot(x - this.#touch.x, y - this.#touch.y) >= TAP_DISTANCE) clearTimeout(this.#pressing);
            return;
        }
        clearTimeout(this.#pressing);
        if (!isPrimary || type === "pointercancel") {
            this.#touch = null;
            this.#lastTap = null;
        } else if (type === "pointerdown") {
            this.#touch = { x, y };
            // Some browsers have no such event for a long press.
            const isPress = target.closest(".bubble") && !target.closest("a:not([data-view]), video, audio, button");
            if (isPress) this.#pressing = setTimeout(() => this.#openMenuOf(target, { x, y }), LONG_PRESS_MILLISECONDS);
        } else if (this.#touch && Math.hypot(x - this.#touch.x, y - this.#touch.y) < TAP_DISTANCE) {
            const tap = { key: /** @type {HTMLElement | null} */ (target.closest("[data-key]"))?.dataset.key, at: timeStamp, x, y };
            const last = this.#lastTap;
            const isSecond = last && last.key === tap.key && timeStamp - last.at < DOUBLE_TAP_MILLISECONDS
                && Math.hypot(x - last.x, y - last.y) < DOUBLE_TAP_DISTANCE;
            this.#lastTap = isSecond ? null : tap;
            if (isSecond && target.closest(".bubble")) this.#like(target);
        } else {
            this.#lastTap = null;
        }
    }

    /**
     * Up and down move between messages, left and right within one, Home and End go to the first and the newest message, and
     * Escape and characters return to the composer.
     *
     * @param {KeyboardEvent} event
     */
    #keyPressed(event) {
        const { key, target } = event;
        const isMenuKey = key === "ContextMenu" || (key === "F10" && event.shiftKey);
        if (isMenuKey && target instanceof Element && this.#openMenuOf(target)) return event.preventDefault();
        if (event.isComposing || event.altKey || event.metaKey || !(target instanceof HTMLElement)) return;
        // A character, or the first key of one that is composed. The field gets it, because it has the focus before the key has an effect.
        if (/^([^ /]|Process|Dead)$/u.test(key) && !event.ctrlKey) return this.#composer.focus();
        if (event.shiftKey) return;
        if (key === "Escape") return void (this.#closePicker() || this.#composer.focus());
        if (target.closest("video, audio")) return;
        let isTaken = true;
        if (key === "Home") this.#goToFirst();
        else if (key === "End") this.jump("last");
        else if (event.ctrlKey) return;
        else if (key === "ArrowUp" || key === "ArrowDown") isTaken = this.#focusMessage(target, key === "ArrowUp" ? -1 : 1);
        else if (key === "ArrowLeft" || key === "ArrowRight") isTaken = this.#focusControl(target, key === "ArrowLeft" ? -1 : 1);
        else if (key === "Enter" && target.matches(".row")) isTaken = this.#focusControl(target, 1);
        else return;
        if (isTaken) event.preventDefault();
    }

    #goToFirst() {
        if (this.#view?.before === "end") this.scroller.scrollTop = 0;
        else this.jump(1);
    }

    /**
     * Moves the focus to the next message in a direction; from the list itself, to the first or last one on the screen.
     *
     * @param {HTMLElement} target
     * @param {number} step
     */
    #focusMessage(target, step) {
        const nodes = /** @type {HTMLElement[]} */ ([...$("#messages").querySelectorAll(".row")]);
        const current = nodes.findIndex((node) => node.contains(target));
        /** @type {HTMLElement | undefined} */
        let next = nodes[current + step];
        if (current < 0) {
            const screen = this.scroller.getBoundingClientRect();
            const visible = nodes.filter((node) => {
                const box = node.getBoundingClientRect();
                return box.bottom > screen.top && box.top < screen.bottom;
            });
            next = visible.at(step < 0 ? -1 : 0);
        }
        next?.focus({ preventScroll: true });
        next?.scrollIntoView({ block: "nearest" });
        return next !== undefined;
    }

    /**
     * Moves the focus to the next control of a message in a direction, or from the first one back to the message.
     *
     * @param {HTMLElement} target
     * @param {number} step
     */
    #focusControl(target, step) {
        const row = /** @type {HTMLElement | null} */ (target.closest(".row"));
        if (!row) return false;
        // The arrow keys first scroll what is wider than the message.
        if (target.matches("pre") && (step < 0 ? target.scrollLeft > 0 : target.scrollLeft + target.clientWidth < target.scrollWidth - 1)) return false;
        /** @type {NodeListOf<HTMLElement>} */
        const within = row.querySelectorAll("button, a, video, audio, pre");
        const controls = [row, ...[...within].filter((node) => node.getClientRects().length)];
        controls[Math.max(0, controls.indexOf(target) + step)]?.focus({ preventScroll: true });
        return true;
    }

    /**
     * Edits a stored message, or takes a failed one back into the composer.
     *
     * @param {Row} row
     */
    #editRow(row) {
        const { draft } = row;
        if (isStored(row)) return this.#composer.edit(row.message);
        if (!draft) return;
        const reply = draft.reply_to === undefined ? undefined : (this.#room.message(draft.reply_to) ?? this.#quotes.known(draft.reply_to) ?? { seq: draft.reply_to, sender: texts.aMessage });
        this.#room.discard(draft.client_message_id);
        this.#composer.restore(draft, reply);
    }

    /** Number of seconds until slow mode lets the user send again. */
    get #slowLeft() {
        const last = this.#slowSeconds ? this.#lastStored()?.message.created_at : undefined;
        const since = last === undefined ? Infinity : (serverNow() - Date.parse(last)) / 1000;
        return Math.min(this.#slowSeconds, Math.max(0, Math.ceil(this.#slowSeconds - since)));
    }

    /** Says in the empty field what limits the user, and counts the time of slow mode. */
    #showLimits() {
        clearTimeout(this.#slowTimer);
        const left = this.#slowLeft;
        this.#composer.setPlaceholder(this.#isRestricted ? texts.ownersWrite : left ? texts.slowMode(timeLeft(left)) : texts.message);
        $("#composer").classList.toggle("restricted", this.#isRestricted);
        if (left) this.#slowTimer = setTimeout(() => this.#showLimits(), 1000);
    }

    /**
     * Sends a message. What comes too early for slow mode waits, and the client sends it in time.
     *
     * @param {import("./client/index.js").Draft} draft
     */
    async #send(draft) {
        const left = this.#slowLeft;
        const sending = this.#room.send(draft);
        // The composer is at its next message first.
        await Promise.resolve();
        if (left) this.#composer.showNotice(texts.slowSends(timeLeft(left)));
        try {
            await sending;
        } catch (error) {
            if (this.#abort.signal.aborted || /** @type {import("./client/index.js").ClientError} */ (error).code !== "posting_restricted") return;
            this.#composer.showError(problemText(error));
            this.#client.rooms.refresh(this.id);
        }
    }

    /**
     * Edits a message. If that fails, the edited text returns to the composer.
     *
     * @param {Message} message
     * @param {string} text
     * @param {string[]} mentions
     */
    async #edit(message, text, mentions) {
        try {
            await this.#room.edit(message.seq, mentions.length || message.mentions ? { text, mentions } : text);
        } catch (error) {
            if (this.#abort.signal.aborted) return;
            this.#composer.edit(message, text);
            this.#composer.showError(problemText(error));
        }
    }

    /**
     * Returns the users that a message may name: those who have written lately, then the other members.
     *
     * @returns {Promise<string[]>}
     */
    async #users() {
        this.#members ??= membersOf(this.#client, this.id).then((members) => members.map(({ user }) => user));
        const members = await this.#members.catch(() => {
            // The next `@` tries again.
            this.#members = null;
            return [];
        });
        const writers = this.#room.view.chunks.slice(-2).flat().flatMap(({ message }) => message?.sender ?? []).reverse();
        const users = new Set([...writers, ...members]);
        users.delete(this.#me);
        return [...users];
    }

    /** @param {() => Promise<unknown>} request */
    async #try(request) {
        try {
            await request();
        } catch (error) {
            if (this.#abort.signal.aborted) return;
            // The view shows a ban.
            const { code } = /** @type {import("./client/index.js").ClientError} */ (error);
            if (code !== "banned") this.#composer.showError(problemText(error));
        }
    }

    /** The newest own message of the window that is stored. */
    #lastStored() {
        let row = this.#room.lastOwnRow();
        while (row && row.state !== "stored") row = this.#room.lastOwnRow((row.seq ?? 0) - 1);
        return isStored(row) ? row : null;
    }

    #editLast() {
        const row = this.#lastStored();
        if (row) this.#composer.edit(row.message);
    }
}

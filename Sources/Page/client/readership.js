/**
 * Who of a room's members has read what: the number of members who have not read a message, and the ticks of own messages.
 * The rules are in docs/timeline.md. Sources/Timeline/Readership.swift is the same in Swift.
 *
 * @typedef {import("./timeline.js").Row} Row
 *
 * @typedef {"stored" | "read_by_some" | "read_by_all"} Tick How far an own message has been read by the other members.
 */

/** What the read marks of a room's members tell of its messages. Immutable. */
export class Readership {
    /** The members' marks, in the order of the members. @type {Map<string, number>} */
    #marks = new Map();
    /** The marks, lowest first. @type {number[]} */
    #sorted;

    /**
     * @param {Iterable<string>} members All members, the user included.
     * @param {Iterable<readonly [user: string, seq: number]>} marks The `seq` up to which users have read, the user included.
     *   Marks of others than members do not count.
     */
    constructor(members, marks) {
        /** @type {Map<string, number>} */
        const known = new Map();
        for (const [user, seq] of marks) known.set(user, Math.max(seq, known.get(user) ?? 0));
        for (const user of members) this.#marks.set(user, known.get(user) ?? 0);
        this.#sorted = [...this.#marks.values()].sort((one, other) => one - other);
    }

    /**
     * Returns the number of members who have not read a row's message; null for a row that has no such number: a line, a
     * deleted message, or a send that is not known to be stored.
     *
     * @param {Row} row
     * @returns {number | null}
     */
    unreadCount({ seq, state, message }) {
        if (seq === undefined || state === "deleted" || message === undefined) return null;
        const count = this.#below(seq);
        return (this.#marks.get(message.sender) ?? seq) < seq ? count - 1 : count;
    }

    /**
     * Returns how far a row's message has been read; null unless it is an own one that is stored and not deleted.
     *
     * @param {Row} row
     * @returns {Tick | null}
     */
    tick(row) {
        const unread = this.unreadCount(row);
        if (unread === null || !row.mine || row.message === undefined) return null;
        const others = this.#marks.size - (this.#marks.has(row.message.sender) ? 1 : 0);
        if (unread === others) return "stored";
        return unread === 0 ? "read_by_all" : "read_by_some";
    }

    /**
     * Returns the members who have read a row's message, in the order of the members, without its sender; none for a row
     * without a number.
     *
     * @param {Row} row
     * @returns {string[]}
     */
    readers({ seq, state, message }) {
        if (seq === undefined || state === "deleted" || message === undefined) return [];
        return [...this.#marks].filter(([user, mark]) => mark >= seq && user !== message.sender).map(([user]) => user);
    }

    /**
     * Returns the number of marks below a `seq`.
     *
     * @param {number} seq
     */
    #below(seq) {
        let [low, high] = [0, this.#sorted.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (/** @type {number} */ (this.#sorted[middle]) < seq) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}

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
    /**
     * @param {Iterable<string>} members All members, the user included.
     * @param {Iterable<readonly [user: string, seq: number]>} marks The `seq` up to which users have read, the user included.
     *   Marks of others than members do not count.
     */
    constructor(members: Iterable<string>, marks: Iterable<readonly [user: string, seq: number]>);
    /**
     * Returns the number of members who have not read a row's message; null for a row that has no such number: a line, a
     * deleted message, or a send that is not known to be stored.
     *
     * @param {Row} row
     * @returns {number | null}
     */
    unreadCount({ seq, state, message }: Row): number | null;
    /**
     * Returns how far a row's message has been read; null unless it is an own one that is stored and not deleted.
     *
     * @param {Row} row
     * @returns {Tick | null}
     */
    tick(row: Row): Tick | null;
    /**
     * Returns the members who have read a row's message, in the order of the members, without its sender; none for a row
     * without a number.
     *
     * @param {Row} row
     * @returns {string[]}
     */
    readers({ seq, state, message }: Row): string[];
    #private;
}
/**
 * Who of a room's members has read what: the number of members who have not read a message, and the ticks of own messages.
 * The rules are in docs/timeline.md. Sources/Timeline/Readership.swift is the same in Swift.
 */
export type Row = import("./timeline.js").Row;
/**
 * How far an own message has been read by the other members.
 */
export type Tick = "stored" | "read_by_some" | "read_by_all";

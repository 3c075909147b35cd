export class Rooms {
    /** @param {import("./room.js").RoomHost} host */
    constructor(host: import("./room.js").RoomHost);
    /**
     * The rooms now: the same object until they change.
     *
     * @returns {RoomsView}
     */
    get view(): Readonly<import("./types.js").RoomsViewFields>;
    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener: () => void): import("./types.js").Unsubscribe;
    /**
     * Loads the list, and keeps it current. Returns when the stored list, or the first part of the server's, is shown.
     *
     * @returns {Promise<this>}
     * @throws {ClientError} The server's refusal; after a temporary error the list goes on trying.
     */
    open(): Promise<Rooms>;
    /** Ends the list. Open rooms stay open. */
    close(): void;
    /**
     * Returns a listed room.
     *
     * @param {string} id
     * @returns {RoomSummary | undefined}
     */
    get(id: string): RoomSummary | undefined;
    /**
     * Creates a room.
     *
     * @param {string} id
     * @param {import("./types.js").RoomSettings} [settings]
     * @returns {Promise<RoomSummary>}
     */
    make(id: string, settings?: import("./types.js").RoomSettings | undefined): Promise<RoomSummary>;
    /**
     * Returns the direct room with another user. It is made if there is none.
     *
     * @param {string} user
     * @returns {Promise<RoomSummary>}
     */
    direct(user: string): Promise<RoomSummary>;
    /**
     * Changes the title or visibility of a room.
     *
     * @param {string} id
     * @param {import("./types.js").RoomSettings} settings
     * @returns {Promise<RoomSummary>}
     */
    change(id: string, settings: import("./types.js").RoomSettings): Promise<RoomSummary>;
    /**
     * Deletes a room.
     *
     * @param {string} id
     */
    delete(id: string): Promise<void>;
    /**
     * Loads a room's present state.
     *
     * @param {string} id
     * @returns {Promise<RoomSummary>}
     */
    summary(id: string): Promise<RoomSummary>;
    /**
     * Returns the messages that mention the user, or a room that the user is in, newest first.
     *
     * @param {{cursor?: string, limit?: number}} [options]
     * @returns {Promise<{messages: Message[], hasMore: boolean, cursor?: string}>}
     */
    mentions(options?: {
        cursor?: string | undefined;
        limit?: number | undefined;
    } | undefined): Promise<{
        messages: Message[];
        hasMore: boolean;
        cursor?: string | undefined;
    }>;
    /**
     * Moves the read mark from the list; an open room does so by itself.
     *
     * @param {string} id
     * @param {number} seq
     * @returns {Promise<RoomSummary>}
     */
    markRead(id: string, seq: number): Promise<RoomSummary>;
    /**
     * @param {string} id
     * @returns {Promise<RoomSummary>}
     */
    join(id: string): Promise<RoomSummary>;
    /** @param {string} id */
    leave(id: string): Promise<void>;
    /**
     * Returns members of a room, ordered by id, from one on.
     *
     * @param {string} id
     * @param {{after?: string, profiles?: boolean}} [options] With `profiles`, each has the user's `profile`, if there is one.
     */
    members(id: string, options?: {
        after?: string | undefined;
        profiles?: boolean | undefined;
    } | undefined): Promise<{
        members: import("./types.js").Member[];
        hasMore: boolean;
    }>;
    /**
     * Adds a user to a room, or changes the role.
     *
     * @param {string} user
     * @param {string} id
     * @param {import("./types.js").Role} [role]
     */
    add(user: string, id: string, role?: import("./types.js").Role | undefined): Promise<import("./types.js").Member>;
    /**
     * Removes a user from a room.
     *
     * @param {string} user
     * @param {string} id
     */
    remove(user: string, id: string): Promise<void>;
    /**
     * Lists an open room although the user is no member, so that the user can return to it.
     *
     * @param {string} id
     * @returns {Promise<RoomSummary>}
     */
    visit(id: string): Promise<RoomSummary>;
    /**
     * Looks a room up soon.
     *
     * @param {string} id
     */
    refresh(id: string): void;
    /**
     * Takes the state of a room from the answer to a request. The client calls it.
     *
     * @param {RoomSummary} summary
     */
    note(summary: RoomSummary): void;
    /**
     * Takes the number of unread messages that an open room knew when it was left. The client calls it.
     *
     * @param {string} id
     * @param {number} unread
     */
    noteUnread(id: string, unread: number): void;
    #private;
}
/** The users whom the user blocks, the same on all devices. */
export class Blocks {
    /** @param {import("./requests.js").Requests} requests */
    constructor(requests: import("./requests.js").Requests);
    /** True once all blocked users have been loaded. Until then the view has only those that this client was told of. */
    isKnown: boolean;
    /**
     * The blocked users now: the same set until it changes.
     *
     * @returns {ReadonlySet<string>}
     */
    get view(): ReadonlySet<string>;
    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener: () => void): import("./types.js").Unsubscribe;
    /**
     * Loads the blocked users, and keeps them current while the list of rooms is open.
     *
     * @returns {Promise<this>}
     */
    open(): Promise<Blocks>;
    /**
     * Blocks a user: direct messages end, and the app folds the user's other messages.
     *
     * @param {string} user
     */
    block(user: string): Promise<void>;
    /**
     * Ends a block.
     *
     * @param {string} user
     */
    unblock(user: string): Promise<void>;
    /**
     * Takes a change that the server has told. The client calls it.
     *
     * @param {string} user
     * @param {boolean} isBlocked
     */
    note(user: string, isBlocked: boolean): void;
    /** Loads the blocked users again, because changes may have been missed. The client calls it. */
    renew(): void;
    #private;
}
export type Message = import("./types.js").Message;
export type RoomSummary = import("./types.js").RoomSummary;
export type RoomsView = import("./types.js").RoomsView;
export type Frame = import("./types.js").Frame;
/**
 * With the time at which a user who is no member has visited the room.
 */
export type ListedRoom = RoomSummary & {
    visited?: number;
};
export type Entry = {
    room: ListedRoom;
    /**
     * The time of the latest activity, in milliseconds since 1970. A room without messages has that of the room
     * below it in the server's list.
     */
    at: number;
    /**
     * Its place among those with the same time.
     */
    place: number;
};

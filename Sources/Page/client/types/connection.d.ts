export class Connection {
    /**
     * @param {object} host
     * @param {(token: string | null) => import("./types.js").WebSocketLike} host.open Opens a socket.
     * @param {import("./requests.js").Identity} host.identity
     * @param {() => void} host.silent A connection was found dead.
     * @param {(user: string, isBlocked: boolean) => void} host.blocked The user has blocked another one, or has ended that.
     * @param {() => void} host.reached The server has answered after a lost connection.
     */
    constructor(host: {
        open: (token: string | null) => import("./types.js").WebSocketLike;
        identity: import("./requests.js").Identity;
        silent: () => void;
        blocked: (user: string, isBlocked: boolean) => void;
        reached: () => void;
    });
    /** @returns {import("./types.js").ConnectionView} The same object until it changes. */
    get view(): Readonly<import("./types.js").ConnectionViewFields>;
    /**
     * Calls a function after each change of the view.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener: () => void): import("./types.js").Unsubscribe;
    /**
     * Notes the result of a request: null, or the error of a refused user.
     *
     * @template {ClientError | null} Result
     * @param {Result} error
     */
    noteAnswer<Result extends ClientError | null>(error: Result): Result;
    close(): void;
    /**
     * Subscribes a room from a position on. An earlier subscription of the room ends.
     *
     * @param {Subscriber} room
     * @param {number} since
     * @param {string} epoch
     */
    add(room: Subscriber, since: number, epoch: string): undefined;
    /**
     * Ends the subscription of a room whose screen is closed. The list goes on with it if it has the room.
     *
     * @param {Subscriber} room
     */
    remove(room: Subscriber): void;
    /**
     * Subscribes the list to the user's rooms.
     *
     * @param {Follower} follower
     */
    follow(follower: Follower): void;
    /** Ends the subscription of the list. Rooms with screens stay. */
    unfollow(): void;
    /**
     * Sends a frame if the socket is open.
     *
     * @param {object} frame
     */
    send(frame: object): void;
    /**
     * Tells the others that the user types.
     *
     * @param {string} room
     */
    sendTyping(room: string): void;
    /** Finds out if the socket still works, or connects now, because the network or the reader has come back. */
    wake(): void;
    /** Ends the socket, because the network is gone. Attempts go on. */
    lose(): void;
    /** @param {boolean} isInBackground */
    setBackground(isInBackground: boolean): void;
    /** Notes that the server serves the client, so that the next pause is short. */
    noteServed(): void;
    #private;
}
export type Frame = import("./types.js").Frame;
/**
 * A room with a screen.
 */
export type Subscriber = {
    id: string;
    /**
     * The server has accepted the subscription.
     */
    connected: () => void;
    disconnected: () => void;
    take: (frame: Frame) => void;
    /**
     * The room cannot be read any more.
     */
    end: (error: ClientError) => void;
};
/**
 * The list of the user's rooms.
 */
export type Follower = {
    /**
     * Called before the client subscribes to the rooms.
     */
    willConnect: () => void;
    connected: () => void;
    disconnected: () => void;
    connectionFailed: () => void;
    /**
     * `since` is the position of a room's own subscription.
     */
    take: (frame: Frame, since: number | null) => void;
    end: (error: ClientError) => void;
    /**
     * True if the list needs a room's changes, also without a screen.
     */
    wants: (room: string) => boolean;
    /**
     * The rooms that the list needs and `mine` does not have.
     */
    others: () => string[];
    /**
     * A room whose changes matter least; null if there is none.
     */
    oldest: (isOpen: (room: string) => boolean) => string | null;
};
/**
 * Two marks in the sequence of the server's frames: one after all frames of an earlier subscription, and one
 *  after the answer that refuses the request. To set a mark, the client unsubscribes from a room that does not exist. The server
 *  answers with an error that names the room.
 */
export type Marks = {
    first: string;
    last: string;
    isBetween: boolean;
    /**
     * The room's frames between the marks. They belong to the subscription unless it is refused.
     */
    frames: Frame[];
};
export type Subscription = {
    room: Subscriber;
    since: number;
    epoch: string;
    phase: "wanted" | "requested" | "subscribed";
    /**
     * True until `live`.
     */
    isReplaying: boolean;
    /**
     * The revision of the replay's latest message.
     */
    replayed: number | null;
    /**
     * True while the rest of a replay that was cut off is requested. The room has not heard of the cut.
     */
    isResuming: boolean;
    /**
     * Null if no other subscription to the room can be on its way.
     */
    marks: Marks | null;
};
import { ClientError } from "./errors.js";

export class Outbox {
    /**
     * @param {import("./requests.js").Requests} requests
     * @param {import("./storage.js").Storage} storage
     * @param {(room: string) => boolean} isOpen
     */
    constructor(requests: import("./requests.js").Requests, storage: import("./storage.js").Storage, isOpen: (room: string) => boolean);
    close(): void;
    /** Sends the unsent messages of all rooms that are not open. */
    send(): Promise<void>;
    /** Ends all pauses, because the network has come back. */
    wake(): void;
    #private;
}

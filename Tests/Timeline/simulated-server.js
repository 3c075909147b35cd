/** One room of a server as clients see it: a log by `seq`, changes by `rev`, pages, and sockets that replay. */
export class SimulatedServer {
    epoch = "epoch-1";
    rev = 0;
    /** The present snapshots; the message with `seq` is at `seq - 1`. */
    messages = [];
    read = 0;
    #me;
    #now;
    #sockets = new Set();
    #epochs = 1;

    /** @param {string} me The user of the timeline. @param {() => number} now Milliseconds since 1970. */
    constructor(me, now) {
        this.#me = me;
        this.#now = now;
    }

    get head() {
        return this.messages.length;
    }

    /** Stores a message, or returns the first one of this sender and id. */
    send(sender, clientMessageID) {
        const known = this.messages.find((message) => {
            return message.sender === sender && message.client_message_id === clientMessageID;
        });
        if (known && clientMessageID !== undefined) return { status: 200, message: known };
        const message = { room: "lobby", seq: this.head + 1, sender, created_at: new Date(this.#now()).toISOString() };
        if (clientMessageID !== undefined) message.client_message_id = clientMessageID;
        return { status: 201, message: this.#commit({ ...message, text: `message ${message.seq}` }) };
    }

    edit(seq) {
        const message = this.messages[seq - 1];
        const edited_at = message.created_at;
        if (!message.deleted) this.#commit({ ...message, text: `${message.text}, edited`, edited_at });
    }

    react(seq, users) {
        const message = this.messages[seq - 1];
        if (!message.deleted) this.#commit({ ...message, reactions: [{ key: "❤️", count: users.length, users }] });
    }

    delete(seq) {
        const { room, sender, created_at, client_message_id } = this.messages[seq - 1];
        const id = client_message_id === undefined ? {} : { client_message_id };
        this.#commit({ room, seq, sender, ...id, created_at, deleted: true });
    }

    markRead(seq) {
        if (seq <= this.read || seq > this.head) return;
        this.read = seq;
        this.notify({ type: "read", room: "lobby", user: this.#me, seq });
    }

    /** Sends a notice, which is not stored. */
    notify(frame) {
        for (const socket of this.#sockets) socket.send(frame);
    }

    unreadAfter(mark) {
        return this.messages.filter(({ seq, sender, deleted }) => seq > mark && sender !== this.#me && !deleted);
    }

    /** The number of unread messages as the server says it: 1,000 means that many or more. */
    countUnread() {
        return Math.min(this.unreadAfter(this.read).length, 1000);
    }

    /** Every fifth message mentions the user. */
    #firstMention() {
        return this.unreadAfter(this.read).find(({ seq }) => seq % 5 === 0)?.seq;
    }

    page({ before, after, around, limit }) {
        let from;
        let to = this.head;
        if (before !== undefined) {
            to = Math.min(before - 1, this.head);
            from = Math.max(1, to - limit + 1);
        } else if (after !== undefined) {
            from = Math.min(after, this.head) + 1;
            to = Math.min(from + limit - 1, this.head);
        } else if (around !== undefined) {
            const unread = this.unreadAfter(this.read)[0]?.seq ?? this.head;
            const place = { unread, mention: this.#firstMention() ?? unread }[around] ?? around;
            const middle = Math.min(Math.max(place, 1), Math.max(this.head, 1));
            from = Math.max(1, Math.min(middle - Math.floor(limit / 2), this.head - limit + 1));
            to = Math.min(from + limit - 1, this.head);
        } else {
            from = Math.max(1, this.head - limit + 1);
        }
        const page = {
            messages: this.messages.slice(from - 1, to),
            has_before: from > 1 && this.head > 0,
            has_after: to < this.head,
            head: this.head,
            rev: this.rev,
            epoch: this.epoch,
        };
        if (around !== "unread" && around !== "mention") return page;
        const unread = this.unreadAfter(this.read);
        const first = unread.length > 0 ? { first_unread: unread[0].seq } : {};
        return { ...page, read: this.read, unread: this.countUnread(), ...first, first_unread_mention: this.#firstMention() };
    }

    /**
     * Subscribes from a position. The replay has each changed message once, in the order of latest `rev`s. Then every change is
     * pushed as it is committed.
     *
     * @param {(frame: object) => void} send
     * @returns {{step: () => boolean, close: () => void} | null} `step` sends the next frame of the replay, and returns false
     *   once it is over. Null if the position does not belong to this history.
     */
    subscribe(since, epoch, send) {
        if (epoch !== this.epoch || since > this.rev) return null;
        const socket = { send: () => {} };
        let position = since;
        send({ type: "subscribed", room: "lobby", head: this.head, rev: this.rev, epoch: this.epoch });
        return {
            step: () => {
                if (socket.send === send) return false;
                const changed = this.messages.filter(({ rev }) => rev > position);
                if (changed.length > 0) {
                    const next = changed.reduce((one, other) => (one.rev < other.rev ? one : other));
                    position = next.rev;
                    send({ type: "message", message: next });
                    return true;
                }
                send({ type: "live", room: "lobby", rev: this.rev });
                socket.send = send;
                this.#sockets.add(socket);
                return false;
            },
            close: () => {
                socket.send = () => {};
                this.#sockets.delete(socket);
            },
        };
    }

    /** Restores a backup: the newest messages are lost, and the history is another one. */
    restoreBackup(lost) {
        this.messages = this.messages.slice(0, Math.max(0, this.head - lost));
        this.rev = Math.max(0, ...this.messages.map(({ rev }) => rev));
        this.read = Math.min(this.read, this.head);
        this.#epochs++;
        this.epoch = `epoch-${this.#epochs}`;
        this.#sockets.clear();
    }

    #commit(message) {
        this.rev++;
        const stored = { ...message, rev: this.rev };
        this.messages[stored.seq - 1] = stored;
        this.notify({ type: "message", message: stored });
        return stored;
    }
}

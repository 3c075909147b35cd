/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 *
 * @typedef {import("./timeline-events.js").Message} Message
 * @typedef {import("./timeline-events.js").Attachment} Attachment
 * @typedef {import("./timeline-events.js").Reaction} Reaction
 * @typedef {import("./timeline-events.js").PostedDraft} PostedDraft
 * @typedef {import("./timeline-events.js").Page} Page
 * @typedef {import("./timeline-events.js").Query} Query
 * @typedef {import("./timeline-events.js").Frame} Frame
 * @typedef {import("./timeline-events.js").Place} Place
 * @typedef {import("./timeline-events.js").Edge} Edge
 * @typedef {import("./timeline.js").Row} Row
 *
 * @typedef {object} Draft A message to send. It has a text, attachments or data.
 * @property {string} [client_message_id] Unique among the user's messages of the room; by default the client makes one.
 * @property {string} [text]
 * @property {Attachment[]} [attachments]
 * @property {number} [reply_to] The `seq` of the message that this one answers.
 * @property {string[]} [mentions] Up to 50 users whom it mentions.
 * @property {boolean} [mentions_room] True to mention everybody in the room.
 * @property {boolean} [silent] True to cause no push notifications.
 * @property {number} [expect_head] The message is stored only as the one after this `seq`; else the send fails with `head_moved`.
 * @property {Record<string, any>} [data] Anything of the app's own, as JSON.
 *
 * @typedef {object} Changes What an edit changes. Absent fields stay.
 * @property {string} [text]
 * @property {Attachment[]} [attachments]
 * @property {string[]} [mentions]
 * @property {boolean} [mentions_room]
 * @property {Record<string, any>} [data]
 *
 * @typedef {"owner" | "member"} Role
 * @typedef {"open" | "private"} Visibility
 *
 * @typedef {object} RoomSummary A room, as the user sees it in a list.
 * @property {string} room
 * @property {number} head The highest `seq`; 0 for an empty room.
 * @property {number} rev
 * @property {string} epoch
 * @property {number} read
 * @property {number} unread At 1,000 there may be more.
 * @property {number} [first_unread]
 * @property {number} [unread_mentions] The unread messages that mention the user or the room. At 1,000 there may be more.
 * @property {number} [first_unread_mention]
 * @property {Visibility} visibility
 * @property {string} [title]
 * @property {Role} [role] Absent if the user is no member.
 * @property {string} [direct] The other user of a direct room.
 * @property {string} [avatar] The address of a picture.
 * @property {Record<string, any>} [data] What the app keeps with the room.
 * @property {"owners"} [posting] Set if only owners may send.
 * @property {"members"} [pinning] Set if every member may pin.
 * @property {number} [slow_seconds] The seconds between two messages of a member.
 * @property {number} [keep_days] The days after which messages expire.
 * @property {false} [searchable] Set if no search looks into the room.
 * @property {NotifySettings} [notify] What may disturb the user, if that was set.
 * @property {Message} [last_message]
 *
 * @typedef {object} RoomSettings What `make` and `change` set. Absent fields stay.
 * @property {string | null} [title] An empty one is removed.
 * @property {Visibility} [visibility]
 * @property {"members" | "owners"} [posting] Who may send.
 * @property {"members" | "owners"} [pinning] Who may pin messages.
 * @property {number} [slow_seconds] The seconds between two messages of a member; 0 for no slow mode.
 * @property {number} [keep_days] The days after which messages expire; 0 for no limit of the room.
 * @property {boolean} [searchable] If searches look into the room.
 * @property {string} [avatar] An empty one is removed.
 * @property {Record<string, any>} [data]
 *
 * @typedef {{level: "all" | "mentions" | "none", until?: string, room_mentions: boolean}} NotifySettings Which messages of a room may
 *   disturb the user, until when, and whether a mention of the room is one of the user.
 *
 * @typedef {{user: string, role: Role, profile?: Profile}} Member
 * @typedef {{user: string, name?: string, avatar?: string, data?: Record<string, any>}} Profile What is shown in place of a user's id.
 * @typedef {{name?: string, avatar?: string, data?: Record<string, any>}} ProfileSettings
 * @typedef {{user: string, seq: number, at?: string}} ReadMark Up to where a user has read, and when the mark moved there, if that is known.
 * @typedef {"spam" | "abuse" | "illegal" | "other"} ReportReason
 *
 * @typedef {Readonly<RoomViewFields>} RoomView
 *
 * @typedef {object} RoomViewFields What a screen of the room shows. Each object is immutable; the next change makes another one.
 * @property {readonly Row[]} rows Oldest first: day lines, the unread line, messages, own sends.
 * @property {readonly (readonly Row[])[]} chunks The same rows in arrays of some hundred. An unchanged one is the same object.
 * @property {"idle" | "loading" | "failed" | "end"} before
 * @property {"idle" | "loading" | "failed" | "end"} after
 * @property {"offline" | "catching_up" | "live"} connection
 * @property {string | null} epoch Null until the room has been loaded.
 * @property {number} rev
 * @property {number} unread At 1,000 there may be more.
 * @property {number | null} read
 * @property {{count: number, seq: number} | null} toast New messages that the reader has not seen.
 * @property {readonly string[]} typing
 * @property {number | null} online
 * @property {"initial" | "prepending" | "appending" | "idle"} phase
 * @property {{to: string} | null} scroll Where to scroll: the key of a row, or `"bottom"`. Another object asks for another scroll.
 * @property {ReadonlyMap<string, number>} readers The read marks of other users, as far as they were told while the room was open.
 * @property {import("./readership.js").Readership | null} readership Who of the members has read what, after `followReads`; null until
 *   it is known, and in a room of more than 10,000 members.
 * @property {string | null} ban The reason why the user may not write; null if none is known.
 * @property {import("./errors.js").ClientError | null} ending Why the room has ended; null while it is open.
 *
 * @typedef {Readonly<RoomsViewFields>} RoomsView
 *
 * @typedef {object} RoomsViewFields
 * @property {readonly RoomSummary[]} rooms Latest activity first.
 * @property {boolean} isListed True once the stored list, or the server's, is shown.
 * @property {boolean} isLive True while the list is complete and follows the server.
 * @property {boolean} hasMore True if the user has more rooms than are listed.
 * @property {number} unread The sum of the unread messages.
 * @property {boolean} hasMoreUnread True if there may be more than that.
 * @property {import("./errors.js").ClientError | null} ending Why the list has ended; null while it is open.
 *
 * @typedef {Readonly<ConnectionViewFields>} ConnectionView
 *
 * @typedef {object} ConnectionViewFields
 * @property {"closed" | "connecting" | "waiting" | "open"} state `waiting` is the pause before the next attempt.
 * @property {import("./errors.js").ClientError | null} error The latest failure of the connection or of a request's token; null
 *   once the server has answered.
 *
 * @typedef {object} Store What keeps texts of the app across restarts. All values are plain objects of JSON.
 * @property {(key: string) => Promise<any>} get Returns the value; undefined if there is none.
 * @property {(key: string, value: object) => Promise<unknown>} set
 * @property {(key: string) => Promise<unknown>} remove
 * @property {(prefix: string) => Promise<string[]>} keys Returns the keys that begin so.
 * @property {boolean} [isOpen] False while the first `get` takes longer than a request, so that the client makes both at once.
 *
 * @callback Fetch
 * @param {string} url
 * @param {any} options
 * @returns {Promise<{ok: boolean, status: number, statusText?: string, headers: {get(name: string): string | null}, text(): Promise<string>}>}
 *
 * @typedef {object} WebSocketLike
 * @property {number} readyState
 * @property {any} onopen
 * @property {any} onmessage
 * @property {any} onclose
 * @property {any} onerror
 * @property {(text: string) => void} send
 * @property {(code?: number, reason?: string) => void} close
 *
 * @typedef {new (url: string, protocols: string[]) => WebSocketLike} WebSocketConstructor
 *
 * @callback Unsubscribe
 * @returns {void}
 *
 * @module types
 */
export {};

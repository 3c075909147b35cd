/**
 * Backscroll's client: rooms that open in the middle, stay live, and send each message exactly once (docs/javascript.md).
 *
 *     const client = new Client({ url: "https://chat.example.com", user: "alice" });
 *     const room = await client.room("lobby").open({ at: "read" });
 *     room.subscribe(() => draw(room.view.rows));
 *     await room.send("hello");
 *
 * @module backscroll
 */

/**
 * @typedef {import("./client.js").ClientOptions} ClientOptions
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./types.js").Attachment} Attachment
 * @typedef {import("./types.js").Reaction} Reaction
 * @typedef {import("./types.js").Draft} Draft
 * @typedef {import("./types.js").Changes} Changes
 * @typedef {import("./types.js").Row} Row
 * @typedef {import("./types.js").Place} Place
 * @typedef {import("./types.js").RoomView} RoomView
 * @typedef {import("./types.js").RoomsView} RoomsView
 * @typedef {import("./types.js").RoomSummary} RoomSummary
 * @typedef {import("./types.js").RoomSettings} RoomSettings
 * @typedef {import("./types.js").Member} Member
 * @typedef {import("./types.js").Profile} Profile
 * @typedef {import("./types.js").ProfileSettings} ProfileSettings
 * @typedef {import("./types.js").Role} Role
 * @typedef {import("./types.js").ReadMark} ReadMark
 * @typedef {import("./types.js").ReportReason} ReportReason
 * @typedef {import("./types.js").ConnectionView} ConnectionView
 * @typedef {import("./types.js").Store} Store
 * @typedef {import("./room.js").Room} Room
 * @typedef {import("./rooms.js").Rooms} Rooms
 * @typedef {import("./rooms.js").Blocks} Blocks
 * @typedef {import("./connection.js").Connection} Connection
 */

export { Client } from "./client.js";
export { ClientError } from "./errors.js";
export { Readership } from "./readership.js";
export { MemoryStore, removeStored } from "./storage.js";
export { unreadToast } from "./timeline.js";

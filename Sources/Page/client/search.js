/**
 * Searches for messages (docs/javascript.md).
 *
 * @module search
 */

import { listOf, pathPart } from "./requests.js";

/**
 * @typedef {import("./types.js").Message} Message
 *
 * @typedef {object} SearchOptions
 * @property {string} [room] The room; without it, all rooms that the user is a member of.
 * @property {string} [sender] The user whose messages are searched.
 * @property {Date | string | number} [before] A time, or in a room also a `seq`, before which messages are searched.
 * @property {Date | string | number} [after]
 * @property {"image" | "file" | "link"} [has] What the messages must have.
 * @property {number} [limit] Maximum number of hits of a page: 1 to 200, by default 30.
 * @property {string} [cursor] The `cursor` of a page, to go on after it.
 *
 * @typedef {object} SearchHit
 * @property {Message} message
 * @property {[number, number][]} highlights Start and end of each place of the words in the text, in units of UTF-16, as `slice` takes them.
 *
 * @typedef {object} SearchPage
 * @property {SearchHit[]} hits The newest first. There may be none, although further pages have some.
 * @property {boolean} hasMore
 * @property {string} [cursor]
 * @property {string} [indexedTo] Present while older messages are being indexed: some after this time may be missing.
 */

/** @param {Date | string | number | undefined} place */
const text = (place) => (place instanceof Date ? place.toISOString() : place);

/**
 * Yields the pages of messages that match, newest first. Each page is requested when it is asked for.
 *
 * @param {import("./client.js").Client} client
 * @param {string} words 1 to 8 words, `"phrases"` and `-words` that must not occur.
 * @param {SearchOptions} [options]
 * @returns {AsyncGenerator<SearchPage, void, void>}
 * @throws {import("./errors.js").ClientError} `query_invalid` if `words` are no query, `index_building` while a server builds its first index.
 */
export async function* search(client, words, options = {}) {
    let { room, before, after, cursor, ...filters } = options;
    const path = room === undefined ? "/v1/search" : `/v1/rooms/${pathPart(room)}/search`;
    for (let isLast = false; !isLast; ) {
        const query = { q: words, ...filters, before: text(before), after: text(after), cursor };
        const { hits, has_more: hasMore, cursor: next, indexed_to: indexedTo } = await client.request("GET", path, listOf("hits", query));
        yield { hits, hasMore, cursor: next, indexedTo };
        [cursor, isLast] = [next, !hasMore];
    }
}

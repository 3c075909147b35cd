/**
 * Yields the pages of messages that match, newest first. Each page is requested when it is asked for.
 *
 * @param {import("./client.js").Client} client
 * @param {string} words 1 to 8 words, `"phrases"` and `-words` that must not occur.
 * @param {SearchOptions} [options]
 * @returns {AsyncGenerator<SearchPage, void, void>}
 * @throws {import("./errors.js").ClientError} `query_invalid` if `words` are no query, `index_building` while a server builds its first index.
 */
export function search(client: import("./client.js").Client, words: string, options?: SearchOptions | undefined): AsyncGenerator<SearchPage, void, void>;
export type Message = import("./types.js").Message;
export type SearchOptions = {
    /**
     * The room; without it, all rooms that the user is a member of.
     */
    room?: string | undefined;
    /**
     * The user whose messages are searched.
     */
    sender?: string | undefined;
    /**
     * A time, or in a room also a `seq`, before which messages are searched.
     */
    before?: string | number | Date | undefined;
    after?: string | number | Date | undefined;
    /**
     * What the messages must have.
     */
    has?: "image" | "file" | "link" | undefined;
    /**
     * Maximum number of hits of a page: 1 to 200, by default 30.
     */
    limit?: number | undefined;
    /**
     * The `cursor` of a page, to go on after it.
     */
    cursor?: string | undefined;
};
export type SearchHit = {
    message: Message;
    /**
     * Start and end of each place of the words in the text, in units of UTF-16, as `slice` takes them.
     */
    highlights: [number, number][];
};
export type SearchPage = {
    /**
     * The newest first. There may be none, although further pages have some.
     */
    hits: SearchHit[];
    hasMore: boolean;
    cursor?: string | undefined;
    /**
     * Present while older messages are being indexed: some after this time may be missing.
     */
    indexedTo?: string | undefined;
};

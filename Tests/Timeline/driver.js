/**
 * The driver of timeline.js: reads one event per line from standard input and answers each with one line on standard
 * output, `{"effects":[…],"view":{…}}` or `{"error":"…"}`. scripts/timeline js starts it.
 */

import { argv, stdin, stdout } from "node:process";
import { fileURLToPath } from "node:url";

import { Readership } from "../../Sources/Page/client/readership.js";
import { MalformedEvent, Timeline } from "../../Sources/Page/client/timeline.js";

/** Handles an event, and returns the answer of a driver: rows without their content. */
export function answer(timeline, event) {
    if (event?.readership !== undefined) return { readership: readershipOf(timeline, event.readership) };
    try {
        const { effects, view } = timeline.handle(event);
        const { chunks, rows, ...status } = view;
        return { effects, view: { rows: rows.map(({ message, draft, ...row }) => row), ...status } };
    } catch (error) {
        if (error instanceof MalformedEvent) return { error: error.message };
        throw error;
    }
}

/** Returns what members and marks, `{"members":["bob"],"marks":{"bob":7}}`, tell of each row that has a number. */
function readershipOf(timeline, { members, marks }) {
    const readership = new Readership(members, Object.entries(marks));
    return timeline.view.rows.filter((row) => readership.unreadCount(row) !== null).map((row) => ({
        key: row.key, unread: readership.unreadCount(row), tick: readership.tick(row), readers: readership.readers(row),
    }));
}

/** Handles a line, and returns the answer without its line end. */
export function answerLine(timeline, line) {
    return JSON.stringify(answerText(timeline, line));
}

function answerText(timeline, line) {
    let event;
    try {
        event = JSON.parse(line);
    } catch {
        return { error: "the line is no JSON" };
    }
    return answer(timeline, event);
}

/** Returns the lines of a stream. Only "\n" ends a line: JSON may contain other characters that end lines elsewhere. */
export async function* linesOf(stream) {
    stream.setEncoding("utf8");
    let pending = "";
    for await (const chunk of stream) {
        const lines = chunk.split("\n");
        lines[0] = pending + lines[0];
        pending = lines.pop();
        yield* lines;
    }
    if (pending !== "") yield pending;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
    const timeline = new Timeline();
    for await (const line of linesOf(stdin)) stdout.write(answerLine(timeline, line) + "\n");
}

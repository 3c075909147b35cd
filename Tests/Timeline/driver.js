/**
 * The driver of timeline.js: reads one event per line from standard input and answers each with one line on standard
 * output, `{"effects":[…],"view":{…}}` or `{"error":"…"}`. scripts/timeline js starts it.
 */

import { createInterface } from "node:readline";
import { argv, stdin, stdout } from "node:process";
import { fileURLToPath } from "node:url";

import { MalformedEvent, Timeline } from "../../Sources/Page/timeline.js";

/** Takes an event and returns the answer as a driver gives it: rows without what there is to draw. */
export function answer(timeline, event) {
    try {
        const { effects, view } = timeline.handle(event);
        const { chunks, rows, ...status } = view;
        return { effects, view: { rows: rows.map(({ message, draft, ...row }) => row), ...status } };
    } catch (error) {
        if (error instanceof MalformedEvent) return { error: error.message };
        throw error;
    }
}

function answerLine(timeline, line) {
    let event;
    try {
        event = JSON.parse(line);
    } catch {
        return { error: "the line is no JSON" };
    }
    return answer(timeline, event);
}

if (argv[1] === fileURLToPath(import.meta.url)) {
    const timeline = new Timeline();
    for await (const line of createInterface({ input: stdin, crlfDelay: Infinity })) {
        stdout.write(JSON.stringify(answerLine(timeline, line)) + "\n");
    }
}

/**
 * The driver of timeline.js: reads one event per line from standard input and answers each with one line on standard
 * output, `{"effects":[…],"view":{…}}` or `{"error":"…"}`. scripts/timeline js starts it.
 */

import { argv, stdin, stdout } from "node:process";
import { fileURLToPath } from "node:url";

import { groupPlace, ListLayout, ListReporter } from "../../Sources/Page/client/list.js";
import { Readership } from "../../Sources/Page/client/readership.js";
import { MalformedEvent, Timeline } from "../../Sources/Page/client/timeline.js";

/** Handles an event, and returns the answer of a driver: rows without their content. */
export function answer(timeline, event) {
    if (event?.readership !== undefined) return { readership: readershipOf(timeline, event.readership) };
    if (event?.layout !== undefined) return { layout: layoutOf(timeline, event.layout) };
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

/** The layout of each timeline, and what tells where its reader is. */
const layouts = new WeakMap();

/** Takes a change of the timeline's layout, and returns the layout's state. */
function layoutOf(timeline, { start, difference, measure, scroll, to, resize, ...asked }) {
    const { isEnd = true, follow = null, share = 0, margin = 0, frames = [], edges = { before: "end", after: "end" } } = asked;
    if (start) layouts.set(timeline, { layout: new ListLayout(start), reporter: new ListReporter() });
    const { layout, reporter } = layouts.get(timeline);
    if (difference) layout.apply(difference, { isEnd, scroll: follow, share });
    if (measure) layout.measure(measure);
    if (scroll !== undefined) layout.scroll(scroll);
    if (to !== undefined) layout.scrollTo(to, share);
    if (resize) layout.resize(resize);
    const { anchor, count, contentHeight, offset, isAtBottom, lastVisible } = layout;
    return {
        count, height: contentHeight, offset, anchor: anchor === null || anchor === "bottom" ? anchor : `${anchor.key} ${anchor.distance}`,
        at_bottom: isAtBottom, last_visible: lastVisible, range: layout.range(margin),
        frames: frames.map((key) => {
            const frame = layout.frame(key);
            return frame ? [frame.index, frame.top, frame.height, frame.isMeasured, layout.keyAt(frame.index)] : null;
        }),
        events: reporter.events(layout, edges).map((event) => event.event === "near" ? `near ${event.edge}` : `viewport ${event.at_bottom} ${event.last_visible}`),
        groups: asked.groups ? timeline.view.rows.map((_, index, rows) => {
            const { isFirst, isLast } = groupPlace(rows, index);
            return (isFirst ? "first" : "") + (isLast ? "last" : "");
        }) : [],
    };
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

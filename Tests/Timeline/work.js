/**
 * Checks that the cost of a change does not grow with the window: of 100,000 messages, only the affected chunks of the view are
 * rebuilt.
 */

import { exit, stdout } from "node:process";

import { Timeline } from "../../Sources/Page/timeline.js";

const MESSAGES = 100_000;
const LIMIT = 200;

const timeline = new Timeline();
const message = (seq, rev = seq) => ({
    seq, rev, sender: seq % 3 ? "bob" : "alice", created_at: new Date(1.7e12 + seq * 60_000).toISOString(), client_message_id: `m${seq}`,
});
const page = (first, last) => ({
    messages: Array.from({ length: last - first + 1 }, (_, index) => message(first + index)),
    has_before: first > 1, has_after: false, head: MESSAGES, rev: MESSAGES, epoch: "e", read: MESSAGES - 10,
});

let chunks = [];
let failures = 0;

/** Handles an event. At most `most` arrays of rows may be new in the view. */
function take(event, most) {
    const { view } = timeline.handle(event);
    const before = new Set(chunks);
    chunks = view.chunks;
    const made = chunks.filter((rows) => !before.has(rows)).length;
    if (made <= most) return;
    failures++;
    stdout.write(`    ${JSON.stringify(event).slice(0, 80)} made ${made} of ${chunks.length} chunks anew\n`);
}

take({ event: "start", me: "alice", room: "lobby", limit: LIMIT, utc_offset: 0 }, 0);
take({ event: "open", at: "last" }, 0);
take({ event: "page", request: 1, page: page(MESSAGES - LIMIT + 1, MESSAGES) }, 3);
take({ event: "connected" }, 0);
take({ event: "frame", frame: { type: "live", rev: MESSAGES } }, 0);
let request = 1;
for (let first = MESSAGES - LIMIT + 1; first > 1; first -= LIMIT) {
    take({ event: "near", edge: "before" }, 0);
    request++;
    take({ event: "page", request, page: page(first - LIMIT, first - 1) }, 4);
}
if (timeline.view.rows.filter(({ seq }) => seq).length !== MESSAGES) failures++;
take({ event: "frame", frame: { type: "message", message: message(MESSAGES + 1) } }, 1);
take({ event: "frame", frame: { type: "message", message: message(50_000, MESSAGES + 2) } }, 1);
take({ event: "viewport", at_bottom: true, last_visible: MESSAGES + 1 }, 0);
take({ event: "send", draft: { client_message_id: "mine" }, at: 1.8e12 }, 2);
take({ event: "time", now: 0 }, 1);

stdout.write(`${failures ? "not ok" : "ok"} - a change of ${MESSAGES.toLocaleString("en")} messages makes the rows anew that it touches\n`);
exit(failures ? 1 : 0);

/**
 * Checks that the cost of a change does not grow with the window: of 100,000 messages, only the affected chunks of the view are
 * rebuilt. Also checks that the memory of a window with a maximum does not grow with the messages that the reader scrolls past.
 */

import { exit, memoryUsage, stdout } from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { Timeline } from "../../Sources/Page/client/timeline.js";

const MESSAGES = 100_000;
const LIMIT = 200;

let timeline = new Timeline();
const message = (seq, rev = seq) => ({
    seq, rev, sender: seq % 3 ? "bob" : "alice", created_at: new Date(1.7e12 + seq * 60_000).toISOString(), client_message_id: `m${seq}`,
});
const page = (first, last) => ({
    messages: Array.from({ length: last - first + 1 }, (_, index) => message(first + index)),
    has_before: first > 1, has_after: last < MESSAGES, head: MESSAGES, rev: MESSAGES, epoch: "e", read: MESSAGES - 10,
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

const MAXIMUM = 2000;
/** Maximum growth of the heap: the messages of a window of 4,000. Without a cut the room would take some 40 MB. */
const GROWTH_BYTES = 3_000_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

function heap() {
    collectGarbage();
    return memoryUsage().heapUsed;
}

/** Scrolls to a `seq`, page after page, as a reader who follows the edge that loads. */
function scrollTo(goal, edge) {
    for (;;) {
        const seqs = timeline.view.rows.filter(({ seq }) => seq).map(({ seq }) => seq);
        const [first, last] = [seqs[0], seqs.at(-1)];
        mostRows = Math.max(mostRows, seqs.length);
        if (edge === "before" ? first <= goal : last >= goal) return;
        timeline.handle({ event: "viewport", at_bottom: false, last_visible: edge === "before" ? first + 20 : last - 20 });
        timeline.handle({ event: "near", edge });
        request++;
        const around = edge === "before" ? page(Math.max(1, first - LIMIT), first - 1) : page(last + 1, Math.min(MESSAGES, last + LIMIT));
        timeline.handle({ event: "page", request, page: around });
    }
}

let mostRows = 0;
request = 1;
chunks = [];
timeline = new Timeline();
timeline.handle({ event: "start", me: "alice", room: "lobby", limit: LIMIT, utc_offset: 0, window: MAXIMUM });
timeline.handle({ event: "open", at: "last" });
timeline.handle({ event: "page", request: 1, page: page(MESSAGES - LIMIT + 1, MESSAGES) });
timeline.handle({ event: "connected" });
timeline.handle({ event: "frame", frame: { type: "live", rev: MESSAGES } });
scrollTo(MESSAGES - MAXIMUM, "before");
const before = heap();
scrollTo(1, "before");
scrollTo(MESSAGES, "after");
for (let seq = MESSAGES + 1; seq <= 2 * MESSAGES; seq++) {
    timeline.handle({ event: "viewport", at_bottom: true, last_visible: seq - 1 });
    timeline.handle({ event: "frame", frame: { type: "message", message: message(seq) } });
}
const growth = heap() - before;
const isFlat = growth < GROWTH_BYTES && mostRows <= MAXIMUM && timeline.view.rows.at(-1).seq === 2 * MESSAGES;
if (!isFlat) failures++;
stdout.write(`${isFlat ? "ok" : "not ok"} - a window of at most ${MAXIMUM.toLocaleString("en")} messages takes no more memory after ${(3 * MESSAGES).toLocaleString("en")}\n`);
if (!isFlat) stdout.write(`    the heap grew by ${growth} bytes; the window had up to ${mostRows} messages\n`);

exit(failures ? 1 : 0);

/** The plays of the rules of docs/clients.md. Each takes a Trial, and throws if its client ends up wrong. */

import { must } from "./must.js";

export const draft = (id) => ({ client_message_id: id });

/** The rules: the name in PlainClient, what the page says, and a play that fails without the rule. */
export const rules = [
    ["the higher rev", "keep the one with the higher `rev`, wherever they came from", (trial) => {
        trial.openLive(3);
        const page = trial.server.page({ limit: 3 });
        trial.server.edit(2);
        trial.deliver();
        trial.client.hasBefore = true;
        trial.client.load("before");
        trial.arrive({ request: trial.client.requests.shift(), page });
        trial.check();
    }],
    ["a stale has_after", "it is stale once you have seen a `seq` beyond the page's last message", (trial) => {
        trial.openLive(20, { around: 14 });
        trial.client.load("after");
        const page = trial.read();
        trial.grow(1);
        trial.deliver();
        trial.arrive(page);
        trial.loadAll("after");
        trial.check(12, 21);
    }],
    ["a short page", "A short page does not mean that the room ends there.", (trial) => {
        trial.openLive(20);
        trial.client.load("before");
        trial.arrive(trial.read(2));
        trial.loadAll("before");
        trial.check(1, 20);
    }],
    ["a page of an earlier window", "Ignore a page that was requested for an earlier window.", (trial) => {
        trial.openLive(40);
        trial.client.load("before");
        const page = trial.read();
        trial.client.open({ around: 10 });
        trial.finish();
        trial.arrive(page);
        trial.check(8, 12);
    }],
    ["frames of an earlier subscription", "ignore the frames of the earlier subscription from that moment on", (trial) => {
        trial.openLive(40, { around: 20 });
        trial.client.open({ around: 10 });
        trial.grow(1);
        trial.deliver();
        trial.finish();
        trial.cut();
        trial.connect();
        trial.replay();
        trial.deliver();
        trial.check(8, 12);
        must(trial.client.requests.length === 0, "loads a page for a frame of the earlier subscription");
    }],
    ["a gap", "Hold this one, and load `after=last`.", (trial) => {
        trial.openLive(5);
        trial.grow(3);
        trial.frames.splice(0, 2);
        trial.deliver();
        trial.finish();
        trial.check(1, 8);
    }],
    ["a gap of several pages", "If `has_after` is true then, load on.", (trial) => {
        trial.openLive(5);
        trial.grow(20);
        trial.frames.splice(0, 19);
        trial.deliver();
        trial.finish();
        trial.check(1, 25);
        must(!trial.client.hasAfter, "the room goes on");
    }],
    ["messages after unloaded pages", "newer pages are not loaded yet. Do not insert the message.", (trial) => {
        trial.openLive(20, { around: 10 });
        trial.grow(1);
        trial.deliver();
        trial.check(8, 12);
    }],
    ["a change races a page", "While a page is loading, keep the latest snapshot of each message outside the window", (trial) => {
        trial.openLive(20);
        trial.client.load("before");
        const page = trial.read();
        trial.server.edit(13);
        trial.deliver();
        trial.arrive(page);
        trial.check(11, 20);
    }],
    ["edits are not new", "only if its `seq` is greater than `head` was", (trial) => {
        trial.openLive(20, { around: 5 });
        trial.server.edit(18);
        trial.grow(1);
        trial.deliver();
        must(trial.client.count === 1, "the button says", trial.client.count);
    }],
    ["a replay is held", "Hold messages after `last` until `live`, then append them in the order of `seq`.", (trial) => {
        trial.openLive(5);
        trial.cut();
        trial.grow(3);
        trial.server.edit(7);
        trial.connect();
        trial.replay();
        trial.deliver(3);
        trial.check(1, 5);
        must(trial.client.requests.length === 0, "loads a gap that the replay fills");
        trial.deliver();
        trial.check(1, 8);
    }],
    ["a replay that is cut", "keep what you hold: the position has moved past it", (trial) => {
        trial.openLive(5);
        trial.cut();
        trial.grow(3);
        trial.connect();
        trial.replay(2);
        trial.deliver();
        trial.cut();
        trial.connect();
        trial.replay();
        trial.deliver();
        must(trial.client.requests.length === 0, "loads what it held");
        trial.check(1, 8);
    }],
    ["too many held", "drop them and set `has_after` to true", (trial) => {
        trial.openLive(5);
        trial.cut();
        trial.grow(250);
        trial.connect();
        trial.replay();
        trial.deliver();
        trial.check(1, 5);
        must(trial.client.hasAfter, "the room ends");
        trial.loadAll("after");
        trial.check(1, 255);
    }],
    ["one POST at a time", "Post one message at a time to keep their order.", (trial) => {
        trial.openLive(5);
        trial.client.send(draft("a1"));
        trial.client.send(draft("a2"));
        must(trial.client.posts.length === 1, "two POSTs are under way");
        trial.finish();
        must(trial.server.messages.slice(5).map((message) => message.client_message_id).join() === "a1,a2", "another order");
    }],
    ["a POST is repeated", "post the same request again, with growing pauses or after `Retry-After`. After 401, get another token first.", (trial) => {
        trial.openLive(5);
        trial.client.send(draft("a1"));
        for (const status of [503, 401, 429, 0, 408]) trial.post(status);
        trial.finish();
        trial.deliver();
        must(trial.client.unsent.length + trial.client.failed.length === 0, "not stored", trial.client.failed);
        trial.check(1, 6);
    }],
    ["a send is stored where it is seen", "whichever comes first. Recognize it by `message.sender == me` and its `client_message_id`", (trial) => {
        trial.openLive(5);
        trial.client.send(draft("a1"));
        const post = trial.client.posts.shift();
        trial.server.send("alice", "a1");
        trial.deliver();
        must(trial.client.unsent.length === 0, "still sending");
        trial.client.takeAnswer(post, 0);
        must(trial.client.posts.length === 0, "posts it again");
        trial.check(1, 6);
    }],
    ["the position is moved by frames", "the answer to a send and a page that you load later do not", (trial) => {
        trial.openLive(5);
        trial.server.edit(2);
        trial.client.send(draft("a1"));
        trial.post();
        trial.cut();
        trial.connect();
        trial.replay();
        trial.deliver();
        trial.check(1, 6);
    }],
    ["another history", "Drop the window and all that you hold, keep the unsent messages, and open again.", (trial) => {
        trial.openLive(8);
        trial.client.send(draft("a1"));
        const post = trial.client.posts.shift();
        const { message } = trial.server.send("alice", "a1");
        trial.cut();
        trial.server.restoreBackup(4);
        trial.connect();
        trial.finish();
        trial.client.takeAnswer(post, 201, message);
        trial.connect();
        trial.replay();
        trial.deliver();
        trial.finish();
        must(trial.client.epoch === trial.server.epoch && trial.client.unsent.length === 0, "not stored in the new history");
        trial.check(1, 6);
    }],
];

/** Rules that have no alternative: what the page says, and a play. */
export const others = [
    ["that page, so that no message is missed in between", (trial) => {
        trial.grow(5);
        trial.client.open({});
        trial.arrive(trial.read());
        trial.grow(2);
        trial.server.edit(3);
        trial.connect();
        trial.replay();
        trial.deliver();
        trial.check(1, 7);
    }],
    ["until `has_before` or `has_after` is false", (trial) => {
        trial.openLive(23, { around: "unread" });
        trial.loadAll("before");
        trial.loadAll("after");
        trial.check(1, 23);
    }],
    ["If its `seq` is less than `first`, older pages are not loaded yet.", (trial) => {
        trial.openLive(20);
        trial.server.edit(3);
        trial.deliver();
        trial.check(16, 20);
        trial.loadAll("before");
        trial.check(1, 20);
    }],
    ["Any other 4xx means that the server does not accept this message.", (trial) => {
        trial.openLive(5);
        trial.client.send(draft("a1"));
        trial.client.send(draft("a2"));
        trial.post(422);
        trial.finish();
        must(trial.client.failed.length === 1 && trial.server.head === 6, "the next one did not go");
    }],
    ["The mark does not move backwards, so repeating an old position is harmless.", (trial) => {
        trial.openLive(5);
        const marks = [3, 2, 3, 5].map((seq) => trial.client.see(seq));
        must(marks.join() === "3,,,5", "marks", marks);
        for (const seq of [3, 5, 3]) trial.server.markRead(seq);
        must(trial.server.read === 5, "the mark moved backwards");
    }],
    ["Take its `read` if it is above yours, and its `unread` if its `head` is yours.", (trial) => {
        trial.openLive(5);
        trial.client.see(2);
        trial.server.markRead(4);
        const room = () => ({ read: trial.server.read, unread: trial.server.countUnread(), head: trial.server.head });
        trial.client.takeRoom(room());
        must(trial.client.mark === 4 && trial.client.unread === 1, "the mark of another device", trial.client.mark, trial.client.unread);
        trial.client.takeRoom({ ...room(), read: 3, unread: 9, head: 6 });
        must(trial.client.mark === 4 && trial.client.unread === 1, "an answer that is not current", trial.client.mark, trial.client.unread);
    }],
];

/** The client of the package, as npm installs it, against a server that crashes, refuses and misbehaves. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, writeFileSync } from "node:fs";
import { createServer as createHTTPServer } from "node:http";
import { createRequire } from "node:module";
import { createServer, connect } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually, install, load, ROOT, Server, SOCKET_OPTIONS, startServer, until, WebSocket } from "./support.mjs";

const files = new Server();
let folder, Client, ClientError, MemoryStore, removeStored;

before(async () => {
    await files.start();
    folder = await install(files);
    ({ Client, ClientError, MemoryStore, removeStored } = await load(folder));
});
after(() => files.close());

/** Starts a server that takes the tokens signed with a secret. */
async function startTokenServer(test, secret) {
    const server = new Server("--jwt-secret-file", join(folder, "secret"));
    test.after(() => server.close());
    writeFileSync(join(folder, "secret"), secret);
    await server.start();
    return server;
}

/** Creates a client that ends with the test. */
function clientOf(test, server, user, options = {}) {
    const client = new Client({ url: server.url ?? server, user, WebSocket, ...options });
    test.after(() => client.close());
    return client;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

const texts = (room) => room.view.rows.flatMap(({ message, draft }) => (message ?? draft)?.text ?? []);
const numbers = (count) => Array.from({ length: count }, (_, index) => `number ${index}`);

/** Asserts that each of the texts was stored once, in order. */
async function assertOnce(server, room, sent) {
    const history = await server.history(room);
    assert.deepEqual(history.map(({ text }) => text), sent);
    assert.deepEqual(history.map(({ seq }) => seq), sent.map((_, index) => index + 1));
}

describe("The JavaScript client", () => {
    test("shows, sends and changes messages", async (t) => {
        const server = await startServer(t);
        const [alice, bob] = [clientOf(t, server, "alice"), clientOf(t, server, "bob")];
        const room = await alice.room("lobby").open();
        const sent = await room.send("hello");
        assert.equal(sent.seq, 1);
        const other = await bob.room("lobby").open({ at: "read" });
        assert.deepEqual(other.view.rows.map(({ key }) => key).slice(1), ["unread", "1"]);
        await until(other, () => other.view.connection === "live");
        await room.send({ text: "again", reply_to: 1, data: { kind: "test" } });
        await until(other, () => texts(other).length === 2);
        assert.equal((await other.react(2, "👍")).reactions[0].count, 1);
        assert.equal(await other.hasReacted(2, "👍"), true);
        assert.equal((await other.toggleReaction(2, "👍")).reactions, undefined);
        assert.equal((await room.edit(1, "hi")).text, "hi");
        assert.equal((await room.remove(1)).deleted, true);
        await until(other, () => other.view.rows.some(({ state }) => state === "deleted"));
        await assert.rejects(other.edit(2, "mine"), { name: "ClientError", code: "not_the_sender", status: 403, isTemporary: false });
        await assert.rejects(room.send({ reply_to: 1 }), { code: "empty_message" });
        assert.equal(room.view.rows.at(-1).state, "failed");
        room.discard(room.view.rows.at(-1).draft.client_message_id);
        assert.equal(room.view.rows.at(-1).state, "stored");
        await other.markRead(2);
        assert.equal(other.view.read, 2);
    });

    test("edits a message only if it has the expected revision", async (t) => {
        const server = await startServer(t);
        const room = await clientOf(t, server, "alice").room("lobby").open();
        const { rev } = await room.send("first");
        const edited = await room.edit(1, "second", { ifRev: rev });
        await assert.rejects(room.edit(1, "late", { ifRev: rev }), { code: "precondition_failed", status: 412 });
        await assertOnce(server, "lobby", ["second"]);
        assert.equal((await room.edit(1, "third", { ifRev: edited.rev })).text, "third");
    });

    test("does not take another user's message with the same id for its own", async (t) => {
        const server = await startServer(t);
        let post = () => {};
        const held = new Promise((resolve) => (post = resolve));
        const holding = async (url, options) => {
            if (options.method === "POST") await held;
            return fetch(url, options);
        };
        const room = await clientOf(t, server, "alice", { fetch: holding }).room("lobby").open();
        await until(room, () => room.view.connection === "live");
        const sent = room.send({ client_message_id: "same", text: "own" });
        await server.request("POST", "/v1/rooms/lobby/messages?user=bob", { client_message_id: "same", text: "other" });
        await until(room, () => texts(room).includes("other"));
        post();
        assert.deepEqual([(await sent).sender, (await sent).text], ["alice", "own"]);
        await assertOnce(server, "lobby", ["other", "own"]);
    });

    test("has a view that is the same object until it changes", async (t) => {
        const server = await startServer(t);
        const room = await clientOf(t, server, "alice").room("lobby").open();
        await until(room, () => room.view.connection === "live" && room.view.online !== null);
        room.typing();
        const { view } = room;
        assert.equal(Object.isFrozen(view), true);
        await room.markRead(0).catch(() => {});
        assert.equal(room.view, view);
        await room.send("hello");
        assert.notEqual(room.view, view);
    });

    test("keeps no earlier view", async (t) => {
        const server = await startServer(t);
        const room = await clientOf(t, server, "alice").room("lobby").open();
        const views = [];
        for (const text of numbers(20)) {
            await room.send(text);
            assert.equal(texts(room).at(-1), text);
            views.push(new WeakRef(room.view));
        }
        // A weak reference keeps its object until the present turn ends.
        await new Promise(setImmediate);
        collectGarbage();
        assert.ok(views.filter((view) => view.deref()).length <= 2);
    });

    test("uses one socket for all rooms and the list, and goes on after a room is closed", async (t) => {
        const server = await startServer(t);
        for (const id of ["one", "two"]) await server.request("PUT", `/v1/rooms/${id}?user=bob`, { visibility: "open" });
        let sockets = 0;
        class Counted extends WebSocket {
            constructor(...parameters) {
                super(...parameters);
                sockets++;
            }
        }
        const client = clientOf(t, server, "bob", { WebSocket: Counted });
        await client.rooms.open();
        const [one, two] = await Promise.all(["one", "two"].map((id) => client.room(id).open()));
        await until(one, () => one.view.connection === "live");
        await until(two, () => two.view.connection === "live");
        const alice = clientOf(t, server, "alice");
        await alice.room("one").send("first");
        await until(one, () => texts(one).includes("first"));
        one.close();
        await alice.room("one").send("second");
        await until(client.rooms, () => client.rooms.get("one").last_message?.text === "second");
        assert.equal(client.rooms.get("one").unread, 2);
        const again = await client.room("one").open();
        await until(again, () => texts(again).includes("second") && again.view.connection === "live");
        await alice.room("one").send("third");
        await until(again, () => texts(again).includes("third"));
        assert.equal(sockets, 1);
    });

    test("shows a room offline once the network is gone, and live once it is back", async (t) => {
        const server = await startServer(t);
        const [alice, bob] = [clientOf(t, server, "alice"), clientOf(t, server, "bob")];
        const room = await alice.room("lobby").open();
        await until(room, () => room.view.connection === "live");
        alice.networkLost();
        assert.equal(room.view.connection, "offline");
        await bob.room("lobby").send("missed");
        alice.networkPathChanged();
        await until(room, () => texts(room).includes("missed") && room.view.connection === "live");
    });

    test("stores each message once, in order, while the server is killed", async (t) => {
        const server = await startServer(t);
        const [alice, bob] = [clientOf(t, server, "alice"), clientOf(t, server, "bob")];
        const [room, reader] = [await alice.room("lobby").open(), await bob.room("lobby").open()];
        const sent = numbers(60);
        const stored = sent.map((text) => room.send(text));
        for (const count of [5, 20, 40]) {
            await stored[count];
            await server.kill();
            alice.networkPathChanged();
            await server.start();
        }
        await Promise.all(stored);
        await until(reader, () => texts(reader).length === sent.length && reader.view.connection === "live");
        assert.deepEqual(texts(reader), sent);
        await assertOnce(server, "lobby", sent);
    });

    const faults = ["lost-answer", "late-answer=300", "status=503", "status=429", "delay=300"];
    for (const fault of faults) {
        test(`stores each message once with the fault ${fault}`, async (t) => {
            const server = await startServer(t, "--faults");
            let count = 0;
            // Every second send meets the fault.
            const faulty = (url, options) => {
                const isFaulty = options.method === "POST" && count++ % 2 === 0;
                return fetch(url, isFaulty ? { ...options, headers: { ...options.headers, "Backscroll-Fault": fault } } : options);
            };
            const room = await clientOf(t, server, "alice", { fetch: faulty, requestTimeout: 2000 }).room("lobby").open();
            const sent = numbers(3);
            await Promise.all(sent.map((text) => room.send(text)));
            await until(room, () => room.view.connection === "live" && room.view.rows.every(({ state }) => !state || state === "stored"));
            assert.deepEqual(texts(room), sent);
            await assertOnce(server, "lobby", sent);
        });
    }

    test("makes the changes of a message in the order of the calls, also when the first is repeated", async (t) => {
        const server = await startServer(t, "--faults");
        let changes = 0;
        const faulty = (url, options) => {
            const isFaulty = options.method === "PATCH" && changes++ === 0;
            return fetch(url, isFaulty ? { ...options, headers: { ...options.headers, "Backscroll-Fault": "status=503" } } : options);
        };
        const room = await clientOf(t, server, "alice", { fetch: faulty }).room("lobby").open();
        await room.send("first");
        await Promise.all([room.edit(1, "old"), room.edit(1, "new")]);
        assert.equal(changes, 3);
        await assertOnce(server, "lobby", ["new"]);
    });

    for (const fault of ["cut-live=2", "drop-frame=2", "double-frame=1", "torn-frame=2", "cut-replay=3", "double-push"]) {
        test(`shows each message once with the fault ${fault}`, async (t) => {
            const server = await startServer(t, "--faults");
            let isFaulty = true;
            class Faulty extends WebSocket {
                constructor(url, protocols) {
                    super(isFaulty ? `${url}${url.includes("?") ? "&" : "?"}fault=${fault}` : url, protocols);
                }
            }
            const sent = numbers(30);
            const writer = await clientOf(t, server, "bob").room("lobby").open();
            await Promise.all(sent.slice(0, 10).map((text) => writer.send(text)));
            const room = await clientOf(t, server, "alice", { WebSocket: Faulty }).room("lobby").open({ at: "last" });
            await until(room, () => room.view.connection !== "offline");
            await Promise.all(sent.slice(10).map((text) => writer.send(text)));
            await writer.edit(1, "edited");
            isFaulty = false;
            await until(room, () => texts(room).length === sent.length && texts(room)[0] === "edited");
            assert.deepEqual(texts(room), ["edited", ...sent.slice(1)]);
        });
    }

    test("holds the outbox while its tokens are refused", async (t) => {
        const { signToken } = await load(folder, "server.js");
        const [secret, wrong] = ["s".repeat(32), "w".repeat(32)];
        const server = await startTokenServer(t, secret);
        let key = wrong;
        const client = new Client({ url: server.url, token: () => signToken(key, { sub: "alice" }), WebSocket });
        t.after(() => client.close());
        const room = client.room("lobby");
        const sent = [room.send("first"), room.send("second")];
        await until(client.connection, () => client.connection.view.error?.status === 401);
        assert.deepEqual(texts(room), ["first", "second"]);
        key = secret;
        client.networkPathChanged();
        assert.deepEqual((await Promise.all(sent)).map(({ seq }) => seq), [1, 2]);
    });

    test("posts nothing with the token of another user", async (t) => {
        const { signToken } = await load(folder, "server.js");
        const [secret, wrong] = ["s".repeat(32), "w".repeat(32)];
        const server = await startTokenServer(t, secret);
        let [key, sub] = [wrong, "alice"];
        const client = new Client({ url: server.url, token: () => signToken(key, { sub }), WebSocket });
        t.after(() => client.close());
        const room = client.room("lobby");
        const sent = room.send("first");
        await until(client.connection, () => client.connection.view.error?.status === 401);
        [key, sub] = [secret, "bob"];
        client.networkPathChanged();
        await until(client.connection, () => client.connection.view.error?.code === "other_user");
        sub = "alice";
        client.networkPathChanged();
        assert.equal((await sent).sender, "alice");
    });

    test("renews its token on the open socket", async (t) => {
        const { signToken } = await load(folder, "server.js");
        const secret = "s".repeat(32);
        const server = await startTokenServer(t, secret);
        const bob = new Client({ url: server.url, token: () => signToken(secret, { sub: "bob" }), WebSocket });
        t.after(() => bob.close());
        /** Returns the tokens that the app gave, those that went over sockets, and the number of sockets, after the first token's end. */
        const beyondTokenOf = async (seconds) => {
            const [given, sent] = [[], []];
            let sockets = 0;
            class Watched extends WebSocket {
                constructor(...values) {
                    super(...values);
                    sockets++;
                }
                send(text) {
                    const { type, token } = JSON.parse(text);
                    if (type === "token") sent.push(token);
                    super.send(text);
                }
            }
            const end = Math.floor(Date.now() / 1000) + seconds;
            const token = () => {
                given.push(signToken(secret, { sub: "alice", exp: given.length === 0 ? end : end + 600 }));
                return given.at(-1);
            };
            const client = new Client({ url: server.url, token, WebSocket: Watched });
            t.after(() => client.close());
            const room = await client.room("lobby").open();
            await eventually(() => Date.now() > end * 1000);
            const text = `after ${seconds} seconds`;
            await bob.room("lobby").send(text);
            await until(room, () => texts(room).includes(text));
            await client.close();
            return { given, sent, sockets };
        };
        // A machine may be too busy to renew the token within its last second.
        for (const seconds of [4, 15, 45]) {
            const { given, sent, sockets } = await beyondTokenOf(seconds);
            if (sockets === 1 && sent.length === 1) return assert.deepEqual(sent, given.slice(1));
        }
        assert.fail("The socket ended with the first token.");
    });

    test("sends from a store what another client has left unsent", async (t) => {
        const server = await startServer(t);
        const { url } = server;
        const store = new MemoryStore();
        const first = new Client({ url, user: "alice", store, WebSocket });
        const room = await first.room("lobby").open();
        await room.send("before");
        await server.kill();
        const sent = numbers(5);
        for (const text of sent) await room.enqueue(text);
        await first.close();
        const second = clientOf(t, { url }, "alice", { store });
        const again = second.room("lobby");
        again.open().catch(() => {});
        // Without a connection, the stored messages and the unsent ones are shown.
        await until(again, () => texts(again).length === 6);
        await server.start();
        second.networkPathChanged();
        await until(again, () => again.view.rows.every(({ state }) => !state || state === "stored"));
        await assertOnce(server, "lobby", ["before", ...sent]);
        assert.deepEqual(await second.roomsWithUnsentMessages(), []);
    });

    test("loads from the server what its store has left out", async (t) => {
        const server = await startServer(t);
        const send = (text) => server.request("POST", "/v1/rooms/lobby/messages?user=bob", { text });
        // A store keeps 500 of these.
        for (let round = 0; round < 6; round++) await Promise.all(numbers(100).map(send));
        const store = new MemoryStore();
        for (let visit = 0; visit < 2; visit++) {
            const client = clientOf(t, server, "alice", { store, pageLimit: 200 });
            const room = await client.room("lobby").open({ at: "last" });
            await until(room, () => room.view.connection === "live");
            while (room.view.before !== "end") await room.loadBefore();
            assert.equal(room.view.rows.find(({ message }) => message).seq, 1);
            await client.close();
        }
    });

    test("sends unsent messages without opening their room", async (t) => {
        const server = await startServer(t);
        const client = clientOf(t, server, "alice");
        const room = await client.room("lobby").open();
        const sent = numbers(10);
        for (const text of sent) await room.enqueue(text);
        room.close();
        const reader = clientOf(t, server, "bob");
        const shown = await reader.room("lobby").open();
        await until(shown, () => texts(shown).length === sent.length);
        await assertOnce(server, "lobby", sent);
    });

    for (const place of ["an open room", "a room before the app ended", "a restored room"]) {
        test(`sends the read mark that was moved offline in ${place}, but not to another history`, async (t) => {
            const [server, backup] = [await startServer(t), await startServer(t)];
            for (const each of [server, backup]) {
                for (const text of numbers(3)) await each.request("POST", "/v1/rooms/lobby/messages?user=bob", { text });
            }
            await backup.kill();
            const store = new MemoryStore();
            let [marks, client, room] = [[], null, null];
            const recording = (url, options) => {
                if (options.method === "PUT") marks.push(options.body);
                return fetch(url, options);
            };
            const open = async () => {
                await client?.close();
                client = clientOf(t, server, "alice", { store, fetch: recording });
                room = client.room("lobby");
                room.open().catch(() => {});
                await until(room, () => texts(room).length === 3);
            };
            const moveOffline = async (seq) => {
                await until(room, () => room.view.connection === "live");
                await server.kill();
                await until(room, () => room.view.connection === "offline");
                if (place === "a restored room") await open();
                room.setViewport({ atBottom: false, lastVisible: seq });
                if (place === "a room before the app ended") await open();
                assert.equal(room.view.read, seq);
            };
            const stored = async () => (await server.request("GET", "/v1/rooms/lobby?user=alice")).read;
            await open();
            await moveOffline(1);
            await server.start();
            client.networkPathChanged();
            await eventually(async () => (await stored()) === 1);
            await moveOffline(2);
            marks = [];
            [server.directory, backup.directory] = [backup.directory, server.directory];
            await server.start();
            const { epoch } = room.view;
            client.networkPathChanged();
            await until(room, () => room.view.connection === "live");
            assert.notEqual(room.view.epoch, epoch);
            // What still waits would be sent now.
            room.close();
            assert.deepEqual(marks, []);
            assert.equal(await stored(), 0);
        });
    }

    test("finds out that a connection is dead when the app comes back", async (t) => {
        const server = await startServer(t);
        let isSilent = false;
        const port = Number(new URL(server.url).port);
        const proxy = createServer((socket) => {
            const upstream = connect(port, "127.0.0.1");
            const wasSilent = isSilent;
            for (const [from, to] of [[socket, upstream], [upstream, socket]]) {
                from.on("data", (data) => (isSilent && !wasSilent) || to.write(data));
                from.on("error", () => to.destroy());
                from.on("close", () => to.destroy());
            }
        }).listen(0, "127.0.0.1");
        await once(proxy, "listening");
        t.after(() => proxy.close());
        const client = clientOf(t, `http://127.0.0.1:${proxy.address().port}`, "alice");
        const room = await client.room("lobby").open();
        await until(room, () => room.view.connection === "live");
        isSilent = true;
        await clientOf(t, server, "bob").room("lobby").send("unheard");
        client.enterForeground();
        await until(room, () => texts(room).includes("unheard"));
        client.close();
    });

    test("ends the room of a user who is removed, with the server's reason", async (t) => {
        const server = await startServer(t);
        await server.request("PUT", "/v1/rooms/den?user=bob", { visibility: "private" });
        await server.request("PUT", "/v1/rooms/den/members/alice?user=bob", { role: "member" });
        await server.request("POST", "/v1/rooms/den/messages?user=bob", { text: "secret" });
        const store = new MemoryStore();
        const client = clientOf(t, server, "alice", { store });
        const rooms = await client.rooms.open();
        const room = await client.room("den").open();
        await until(room, () => room.view.connection === "live");
        await until(rooms, () => rooms.get("den"));
        const isStored = async () => (await store.keys("")).some((key) => key.endsWith("window/den"));
        await eventually(isStored);
        await server.request("DELETE", "/v1/rooms/den/members/alice?user=bob");
        await until(room, () => room.view.ending);
        assert.equal(room.view.ending.code, "not_a_member");
        await until(rooms, () => rooms.view.rooms.length === 0);
        // Without a connection it would be shown again.
        await eventually(async () => !(await isStored()));
        await assert.rejects(client.room("den").open(), (error) => error instanceof ClientError && error.endsAccess);
        assert.notEqual((await store.keys("")).length, 0);
        await client.close();
        await removeStored(store, { url: `${server.url}/`, user: "alice" });
        assert.deepEqual(await store.keys(""), []);
    });

    test("opens direct rooms, and ends them by a block", async (t) => {
        const server = await startServer(t);
        const [alice, phone, bob] = ["alice", "alice", "bob"].map((user) => clientOf(t, server, user));
        const { room: id, direct } = await alice.rooms.direct("bob");
        assert.equal(direct, "bob");
        assert.equal((await bob.rooms.direct("alice")).room, id);
        const room = await alice.room(id).open();
        await room.send("hello");
        await bob.rooms.open();
        await until(bob.rooms, () => bob.rooms.get(id)?.direct === "alice");
        await phone.rooms.open();
        await phone.blocks.open();
        assert.equal(phone.blocks.view.size, 0);
        await until(phone.rooms, () => phone.rooms.view.isLive);
        await alice.blocks.block("bob");
        assert.deepEqual([...alice.blocks.view], ["bob"]);
        await until(phone.blocks, () => phone.blocks.view.has("bob"));
        await assert.rejects(bob.room(id).send("hello?"), { code: "blocked", status: 403 });
        // What was missed without a connection is loaded.
        const { view } = phone.blocks;
        await server.kill();
        await server.start();
        await alice.blocks.unblock("bob");
        assert.equal(phone.blocks.view, view);
        phone.networkPathChanged();
        await until(phone.blocks, () => phone.blocks.view.size === 0);
        assert.equal((await bob.room(id).send("again")).text, "again");
    });

    test("folds the messages of blocked users, and shows one of them", async (t) => {
        const server = await startServer(t);
        const send = (user, text) => server.request("POST", `/v1/rooms/lobby/messages?user=${user}`, { text });
        for (const user of ["mallory", "bob", "mallory"]) await send(user, "hello");
        const alice = clientOf(t, server, "alice");
        const room = alice.room("lobby");
        const folded = () => room.view.rows.filter((row) => row.folded).map(({ seq }) => seq).join();
        // The first page shows what is known, whether the list of blocks or the room comes first.
        await alice.blocks.block("mallory");
        await room.open();
        assert.equal(folded(), "1,3");
        const { rows } = room.view;
        room.show(3);
        await until(room, () => folded() === "1");
        assert.equal(room.view.rows[1], rows[1]);
        assert.equal(room.message(3).sender, "mallory");
        await send("mallory", "again");
        await until(room, () => folded() === "1,4");
        await alice.blocks.unblock("mallory");
        await until(room, () => folded() === "");
        // Another device blocks.
        await alice.blocks.open();
        await alice.rooms.open();
        await until(alice.rooms, () => alice.rooms.view.isLive);
        await server.request("PUT", "/v1/blocks/mallory?user=alice");
        await until(room, () => folded() === "1,3,4");
        await room.open({ at: 2 });
        assert.equal(folded(), "1,3,4");
    });

    test("reports messages, mentions users and tells who has read", async (t) => {
        const server = await startServer(t);
        const [alice, bob] = [clientOf(t, server, "alice"), clientOf(t, server, "bob")];
        const room = await alice.room("lobby").open();
        const message = await room.send({ text: "@bob, look", mentions: ["bob"], silent: true, expect_head: 0 });
        assert.deepEqual([message.mentions, message.silent], [["bob"], true]);
        assert.deepEqual((await room.edit(1, { text: "look", mentions: [] })).mentions, undefined);
        await assert.rejects(room.send({ text: "late", expect_head: 0 }), { code: "head_moved", status: 412 });
        const other = await bob.room("lobby").open();
        await other.report(1, "abuse", { note: "rude" });
        await assert.rejects(other.report(9, "spam"), { status: 404 });
        await other.markRead(1);
        await room.markRead(1);
        const { reads, hasMore } = await room.reads({ from: 1 });
        assert.deepEqual([reads.map(({ user, seq }) => [user, seq]), hasMore], [[["alice", 1], ["bob", 1]], false]);
        const third = await clientOf(t, server, "carol").room("lobby").open();
        assert.equal(third.view.readers.size, 0);
        third.followReads();
        await until(third, () => third.view.readers.size === 2);
        assert.deepEqual([...third.view.readers], [["alice", 1], ["bob", 1]]);
        await room.send("more");
        await other.markRead(2);
        await until(third, () => third.view.readers.get("bob") === 2);
        assert.deepEqual((await room.reads({ after: "alice" })).reads.map(({ user }) => user), ["bob"]);
    });

    test("opens at the first unread mention, and goes there", async (t) => {
        const server = await startServer(t);
        const [alice, bob] = [clientOf(t, server, "alice"), clientOf(t, server, "bob")];
        const room = alice.room("lobby");
        for (const text of ["one", { text: "@bob, look", mentions: ["bob"] }, "three"]) await room.send(text);
        const other = await bob.room("lobby").open({ at: "mention" });
        assert.equal(other.view.scroll.to, "2");
        await other.jump("last");
        await other.jump("mention");
        assert.equal(other.view.scroll.to, "2");
        await other.markRead(2);
        await other.jump("mention");
        assert.notEqual(other.view.scroll.to, "2");
    });

    test("loads names and pictures together, and keeps them for a minute", async (t) => {
        const { Profiles } = await load(folder, "profiles.js");
        const server = await startServer(t);
        const asked = [];
        let [isDown, onAsked] = [false, () => {}];
        const counting = (url, options) => {
            const { pathname, searchParams } = new URL(url);
            if (pathname === "/v1/profiles") asked.push(searchParams.get("users"));
            onAsked();
            return isDown ? Promise.reject(new Error("down")) : fetch(url, options);
        };
        const real = performance.now.bind(performance);
        let later = 0;
        t.mock.method(performance, "now", () => real() + later);
        const [alice, bob] = [clientOf(t, server, "alice", { fetch: counting }), clientOf(t, server, "bob")];
        const picture = "https://example.com/bob.png";
        assert.deepEqual(await new Profiles(bob).set({ name: "Bob", avatar: picture, data: { team: 5 } }),
            { user: "bob", name: "Bob", avatar: picture, data: { team: 5 } });
        const profiles = new Profiles(alice, [{ user: "carol", name: "Carol" }]);
        assert.deepEqual(["bob", "carol", "a,b", ""].map((user) => profiles.get(user)?.name), [undefined, "Carol", undefined, undefined]);
        await until(profiles, () => profiles.known("bob"));
        assert.deepEqual([asked, profiles.get("bob").name, profiles.get("carol")], [["bob,carol"], "Bob", undefined]);
        assert.deepEqual(profiles.all, [profiles.get("bob")]);
        assert.deepEqual(await profiles.load(["bob", "bob", "alice"]), [profiles.get("bob"), profiles.get("bob")]);
        assert.equal(asked.length, 2);
        // A change by others is seen by those who ask again after a minute.
        await new Profiles(bob).set({ name: "", avatar: "" });
        assert.equal(profiles.get("bob").name, "Bob");
        later += 60000;
        profiles.get("bob");
        await until(profiles, () => profiles.known("bob").name === undefined);
        assert.deepEqual(asked.slice(2), ["bob"]);
        await assert.rejects(profiles.set({ avatar: "bob.png" }), { code: "invalid_field", field: "avatar" });
        profiles.note(Array.from({ length: 6000 }, (_, index) => ({ user: `n${index}`, profile: { user: `n${index}`, name: "N" } })));
        assert.equal(profiles.all.length, 5000);
        // Many users take several requests.
        const many = Array.from({ length: 150 }, (_, index) => `user-${index}`);
        await profiles.load(many);
        assert.deepEqual(asked.slice(3).map((users) => users.split(",").length), [100, 50]);
        await profiles.load(Array.from({ length: 20 }, (_, index) => "한".repeat(40) + index));
        assert.ok(asked.length > 6);
        // What got no answer is asked for with the next connection.
        isDown = true;
        await assert.rejects(profiles.load(["dave"]), { code: "unreachable" });
        await new Promise((resolve) => {
            onAsked = resolve;
            profiles.get("dave");
        });
        isDown = false;
        await server.request("PUT", "/v1/profiles/dave?user=dave", { name: "Dave" });
        await alice.rooms.open();
        await until(profiles, () => profiles.known("dave")?.name === "Dave");
    });

    test("counts the mentions in the list of rooms, and lists them", async (t) => {
        const server = await startServer(t);
        await server.request("PUT", "/v1/rooms/den?user=alice", { visibility: "private" });
        for (const user of ["bob", "carol"]) await server.request("PUT", `/v1/rooms/den/members/${user}?user=alice`, { role: "member" });
        const send = (user, body) => server.request("POST", `/v1/rooms/den/messages?user=${user}`, body);
        const bob = clientOf(t, server, "bob");
        await bob.blocks.open();
        await bob.blocks.block("carol");
        const list = await bob.rooms.open();
        const counts = () => {
            const room = list.get("den");
            return [room?.unread, room?.unread_mentions, room?.first_unread_mention].join();
        };
        await until(list, () => list.view.isLive && counts() === "0,0,");
        await send("alice", { text: "nobody" });
        await until(list, () => counts() === "1,0,");
        await send("alice", { text: "bob", mentions: ["bob"] });
        await until(list, () => counts() === "2,1,2");
        await send("alice", { text: "all", mentions_room: true });
        await until(list, () => counts() === "3,2,2");
        await send("carol", { text: "blocked", mentions: ["bob"] });
        await until(list, () => counts() === "4,2,2");
        await bob.blocks.unblock("carol");
        await until(list, () => counts() === "4,3,2");
        await bob.blocks.block("carol");
        await until(list, () => counts() === "4,2,2");
        const { messages, hasMore, cursor } = await list.mentions({ limit: 1 });
        assert.deepEqual([messages.map(({ text }) => text), hasMore], [["all"], true]);
        assert.deepEqual((await list.mentions({ cursor })).messages.map(({ text }) => text), ["bob"]);
        await server.request("PATCH", "/v1/rooms/den/messages/1?user=alice", { text: "bob, too", mentions: ["bob"] });
        await until(list, () => counts() === "4,3,1");
        await server.request("DELETE", "/v1/rooms/den/messages/1?user=alice");
        await until(list, () => counts() === "3,2,2");
        await list.markRead("den", 2);
        await until(list, () => counts() === "2,1,3");
        await list.markRead("den", 4);
        await until(list, () => counts() === "0,0,");
    });

    test("counts no mentions by blocked users, also if it has not loaded the blocks, or has missed one", async (t) => {
        const server = await startServer(t);
        await server.request("PUT", "/v1/rooms/den?user=alice", { visibility: "private" });
        for (const user of ["bob", "carol"]) await server.request("PUT", `/v1/rooms/den/members/${user}?user=alice`, { role: "member" });
        const mention = (user) => server.request("POST", `/v1/rooms/den/messages?user=${user}`, { text: "bob", mentions: ["bob"] });
        await server.request("PUT", "/v1/blocks/carol?user=bob");
        let [isHeld, release] = [false, () => {}];
        const holding = async (url, options) => {
            if (isHeld && new URL(url).pathname === "/v1/blocks") await new Promise((resolve) => (release = resolve));
            return fetch(url, options);
        };
        const bob = clientOf(t, server, "bob", { fetch: holding });
        const list = await bob.rooms.open();
        const counts = () => [list.get("den")?.unread, list.get("den")?.unread_mentions].join();
        await until(list, () => list.view.isLive && counts() === "0,0");
        const shown = new Set();
        list.subscribe(() => shown.add(counts()));
        await mention("carol");
        await until(list, () => counts() === "1,0");
        await mention("alice");
        await until(list, () => counts() === "2,1");
        await mention("carol");
        await until(list, () => counts() === "3,1");
        assert.equal(shown.has("1,1") || shown.has("3,2"), false);
        await mention("alice");
        await until(list, () => counts() === "4,2");
        await server.request("DELETE", "/v1/blocks/carol?user=bob");
        await until(list, () => counts() === "4,4");
        await server.request("PUT", "/v1/blocks/carol?user=bob");
        await until(list, () => counts() === "4,2");
        await bob.blocks.open();
        await mention("alice");
        await until(list, () => counts() === "5,3");
        // Another device blocks while this one has no connection.
        isHeld = true;
        bob.networkLost();
        await server.request("PUT", "/v1/blocks/alice?user=bob");
        bob.networkPathChanged();
        await until(list, () => list.view.isLive && counts() === "5,0");
        await mention("alice");
        await until(list, () => list.get("den").unread === 6);
        isHeld = false;
        release();
        await until(list, () => counts() === "6,0");
    });

    test("mutes rooms on all devices, and leaves them out of the badge", async (t) => {
        const { Notify } = await load(folder, "notify.js");
        const server = await startServer(t);
        for (const room of ["den", "lobby"]) {
            await server.request("PUT", `/v1/rooms/${room}?user=alice`, { visibility: "private" });
            await server.request("PUT", `/v1/rooms/${room}/members/bob?user=alice`, { role: "member" });
        }
        const [phone, desk] = [clientOf(t, server, "bob"), clientOf(t, server, "bob")];
        const [notify, other] = [new Notify(phone), new Notify(desk)];
        for (const { rooms } of [phone, desk]) {
            await rooms.open();
            await until(rooms, () => rooms.view.isLive);
        }
        assert.deepEqual(notify.get("den"), { level: "all", room_mentions: true });
        const later = new Date(Date.now() + 3600000);
        assert.deepEqual(await notify.set("den", { level: "mentions", until: later, room_mentions: false }),
            { level: "mentions", until: later.toISOString(), room_mentions: false });
        for (const list of [notify, other]) {
            await until(list, () => list.get("den").level === "mentions");
            assert.deepEqual(list.get("den"), { level: "mentions", until: later.toISOString(), room_mentions: false });
        }
        await server.request("POST", "/v1/rooms/lobby/messages?user=alice", { text: "hello" });
        await server.request("POST", "/v1/rooms/den/messages?user=alice", { text: "bob", mentions: ["bob"] });
        await server.request("POST", "/v1/rooms/den/messages?user=alice", { text: "hello" });
        // The server counts the mention, because the blocked users are not known.
        await until(other, () => desk.rooms.view.unread === 3 && other.unread("den") === 1);
        assert.deepEqual([other.unread("den"), other.unread("lobby"), other.unread("other"), other.total], [1, 1, 0, 2]);
        await other.set("den", { level: "none" });
        for (const list of [notify, other]) await until(list, () => list.total === 1);
        await notify.set("den", { level: "all" });
        for (const list of [notify, other]) await until(list, () => list.total === 3);
        await assert.rejects(notify.set("den", { level: "all", until: "2001-01-01T00:00:00Z" }), { code: "invalid_field", field: "until" });
        notify.close();
        other.close();
    });

    test("ends a mute by itself", async (t) => {
        const { Notify } = await load(folder, "notify.js");
        const room = (id, until) => ({ room: id, unread: 2, notify: { level: "none", until: new Date(until).toISOString(), room_mentions: true } });
        t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
        const day = 86400000;
        const rooms = [room("den", 1000), room("lobby", 40 * day)];
        let told = 0;
        const list = { view: { rooms }, get: (id) => rooms.find(({ room }) => room === id), subscribe: () => () => {} };
        const notify = new Notify({ rooms: list });
        notify.subscribe(() => told++);
        assert.equal(notify.total, 0);
        t.mock.timers.tick(1000);
        await Promise.resolve();
        assert.deepEqual([told, notify.total], [1, 2]);
        // This is longer than a timer can take.
        for (let days = 0; days < 40; days++) t.mock.timers.tick(day);
        assert.deepEqual([notify.total, notify.get("lobby").level], [4, "all"]);
        notify.close();
    });

    test("keeps the pinned messages of a room current", async (t) => {
        const { Pins } = await load(folder, "pins.js");
        const server = await startServer(t);
        await server.request("PUT", "/v1/rooms/den?user=alice", { visibility: "open", pinning: "members" });
        for (const text of ["one", "two", "three"]) await server.request("POST", "/v1/rooms/den/messages?user=alice", { text });
        await server.request("PUT", "/v1/rooms/den/messages/2/pin?user=alice");
        const [alice, bob] = [clientOf(t, server, "alice"), clientOf(t, server, "bob")];
        const rooms = [await alice.room("den").open(), await bob.room("den").open()];
        const [pins, other] = [new Pins(alice, rooms[0]), new Pins(bob, rooms[1])];
        t.after(() => [pins, other].forEach((list) => list.close()));
        const texts = (list) => list.view.map(({ text }) => text).join();
        for (const list of [pins, other]) await until(list, () => texts(list) === "two");
        assert.equal(other.view[0].pinned.by, "alice");
        assert.equal((await pins.pin(1)).pinned.by, "alice");
        await until(other, () => texts(other) === "one,two");
        await rooms[0].edit(2, "zwei");
        await until(other, () => texts(other) === "one,zwei");
        await assert.rejects(other.unpin(1), { status: 403 });
        await rooms[0].remove(1);
        await until(other, () => texts(other) === "zwei");
        assert.equal((await pins.unpin(2)).pinned, undefined);
        await until(other, () => texts(other) === "");
        await assert.rejects(pins.pin(9), { status: 404 });
        // A closed list stays as it is.
        other.close();
        await pins.pin(3);
        await until(pins, () => texts(pins) === "three");
        assert.equal(texts(other), "");
    });

    test("searches for messages, page by page", async (t) => {
        const { search } = await load(folder, "search.js");
        const server = await startServer(t);
        for (const text of ["정기회의는 3시", "notes", "회의 notes", "other"]) {
            for (const room of ["den", "attic"]) await server.request("POST", `/v1/rooms/${room}/messages?user=alice`, { text });
        }
        const client = clientOf(t, server, "alice");
        const found = async (words, options) => {
            const places = [];
            for await (const { hits } of search(client, words, options)) places.push(...hits.map(({ message }) => `${message.room}:${message.seq}`));
            return places.join();
        };
        assert.equal(await found("회의", { room: "den", limit: 1 }), "den:3,den:1");
        assert.deepEqual((await found("notes -회의", { limit: 1 })).split(",").sort(), ["attic:2", "den:2"]);
        assert.equal(await found("notes", { room: "den", before: 3 }), "den:2");
        assert.equal(await found("notes", { room: "den", after: new Date(Date.now() + 3600000) }), "");
        assert.equal(await found("회의", { room: "den", sender: "bob" }), "");
        const { value: page } = await search(client, "회의 notes", { room: "den" }).next();
        assert.deepEqual(page.hits.map(({ highlights }) => highlights), [[[0, 2], [3, 8]]]);
        assert.equal(page.hasMore, false);
        await assert.rejects(found('"open'), { code: "query_invalid", field: "q" });
    });

    test("drops a pinned message that has expired", async (t) => {
        const { Pins } = await load(folder, "pins.js");
        t.mock.timers.enable({ apis: ["setTimeout"] });
        const lists = [[{ seq: 1, rev: 2, text: "old", pinned: { by: "alice", at: "2026-01-01T00:00:00Z" } }], []];
        const client = { request: async () => ({ messages: lists.shift(), has_more: false }) };
        const pins = new Pins(client, { id: "den", view: { connection: "live" }, onMessage: () => () => {}, subscribe: () => () => {} });
        await until(pins, () => pins.view.length === 1);
        t.mock.timers.tick(600000);
        await until(pins, () => pins.view.length === 0);
        // An empty list is not loaded again.
        t.mock.timers.tick(600000);
        pins.close();
    });

    test("counts who has not read, while members join, leave and are removed", async (t) => {
        const server = await startServer(t);
        await server.request("PUT", "/v1/rooms/den?user=alice", { visibility: "private" });
        const join = (user) => server.request("PUT", `/v1/rooms/den/members/${user}?user=alice`, { role: "member" });
        for (const user of ["bob", "carol", "dave", "erin"]) await join(user);
        const real = performance.now.bind(performance);
        let later = 0;
        t.mock.method(performance, "now", () => real() + later);
        const [alice, phone] = [clientOf(t, server, "alice"), clientOf(t, server, "alice")];
        const rooms = [await alice.room("den").open(), await phone.room("den").open()];
        const rows = (room) => room.view.rows.filter(({ state }) => state);
        const told = (room) => JSON.stringify(rows(room).map((row) => [room.view.readership?.unreadCount(row), room.view.readership?.tick(row)]));
        const become = (...expected) => Promise.all(rooms.map((room) => until(room, () => told(room) === JSON.stringify(expected))));
        for (const room of rooms) room.followReads();
        assert.equal(rooms[0].view.readership, null);
        await rooms[0].send("one");
        await become([4, "stored"]);
        const devices = [await clientOf(t, server, "bob").room("den").open(), await clientOf(t, server, "bob").room("den").open()];
        await Promise.all(devices.map((room) => room.markRead(1)));
        await become([3, "read_by_some"]);
        await devices[0].send("two");
        await become([3, "read_by_some"], [4, null]);
        // The user's own mark comes from any of the user's devices.
        await rooms[1].markRead(2);
        await become([3, "read_by_some"], [3, null]);
        await server.request("DELETE", "/v1/rooms/den/members/carol?user=carol");
        await server.request("DELETE", "/v1/rooms/den/members/dave?user=alice");
        await join("frank");
        for (const room of rooms) room.followReads();
        await become([2, "read_by_some"], [2, null]);
        const { view } = rooms[0];
        await server.request("PUT", "/v1/rooms/den/read?user=frank", { seq: 2 });
        await become([1, "read_by_some"], [1, null]);
        assert.notEqual(rooms[0].view.readership, view.readership);
        // No frame tells who leaves: the members are loaded again while the screen is in front.
        await server.request("DELETE", "/v1/rooms/den/members/erin?user=erin");
        later += 30000;
        await become([0, "read_by_all"], [0, null]);
    });

    test("has no readership in a room of more than 10,000 members, and seldom asks again", async (t) => {
        const server = await startServer(t);
        const real = performance.now.bind(performance);
        let [later, isLarge, asked] = [0, false, 0];
        t.mock.method(performance, "now", () => real() + later);
        const large = async (url, options) => {
            if (!isLarge || !new URL(url).pathname.endsWith("/members")) return fetch(url, options);
            asked++;
            const members = Array.from({ length: 1000 }, (_, index) => ({ user: `user-${asked}-${index}`, role: "member" }));
            return new Response(JSON.stringify({ members, has_more: asked % 20 !== 0 }));
        };
        const client = clientOf(t, server, "alice", { fetch: large });
        const room = await client.room("lobby").open();
        await room.send("one");
        room.followReads();
        await until(room, () => room.view.readership?.unreadCount(room.view.rows.at(-1)) === 0);
        isLarge = true;
        room.followReads();
        await until(room, () => room.view.readership === null);
        assert.equal(asked, 10);
        later += 1000 * 30 * 99;
        // This would ask, if it were time.
        client.enterForeground();
        for (let count = 0; count < 3; count++) await room.reads();
        assert.equal(asked, 10);
        isLarge = false;
        later += 1000 * 30;
        await until(room, () => room.view.readership !== null);
    });

    test("tells its mistakes at once", () => {
        const url = "http://localhost";
        assert.throws(() => new Client({ user: "alice" }), TypeError);
        assert.throws(() => new Client({ url: "localhost", user: "alice" }), TypeError);
        assert.throws(() => new Client({ url }), TypeError);
        assert.throws(() => new Client({ url, user: "alice", token: () => "" }), TypeError);
        for (const id of ["a room", "", undefined, 5]) assert.throws(() => new Client({ url, user: "alice", WebSocket }).room(id), { code: "invalid_room" });
    });

    test("goes on after a socket that tells an error and no end", async (t) => {
        const server = await startServer(t);
        // The time for a socket to open does not end.
        const timeout = setTimeout;
        t.mock.method(globalThis, "setTimeout", (work, milliseconds) => (milliseconds === 15000 ? undefined : timeout(work, milliseconds)));
        let sockets = 0;
        const Failing = function (...values) {
            if (++sockets % 2 === 0) return new WebSocket(...values);
            const socket = { readyState: 0, send() {}, close() {} };
            Promise.resolve().then(() => socket.onerror({ type: "error" }));
            return socket;
        };
        const client = clientOf(t, server, "alice", { WebSocket: Failing });
        const room = await client.room("lobby").open();
        await until(room, () => room.view.connection === "live");
        const list = await clientOf(t, server, "alice", { WebSocket: Failing }).rooms.open();
        await until(list, () => list.view.isLive);
        assert.equal(sockets, 4);
    });

    test("opens no socket before the time that the server asks for", async (t) => {
        const server = await startServer(t);
        const times = [];
        const Refused = function (...values) {
            times.push(Date.now());
            if (times.length > 1) return new WebSocket(...values);
            const socket = { readyState: 0, send() {}, close() {} };
            Promise.resolve().then(() => {
                socket.onopen();
                socket.onmessage({ data: '{"type":"error","code":"overloaded","message":"Later.","retry_after":2}' });
                socket.onclose({ code: 4503, reason: "overloaded" });
            });
            return socket;
        };
        const client = clientOf(t, server, "alice", { WebSocket: Refused });
        const room = await client.room("lobby").open();
        await until(room, () => room.view.connection === "live");
        // The first pause of its own is a second at most.
        assert.ok(times[1] - times[0] > 1500, times.join());
    });

    test("refuses a path whose parts are missing", async (t) => {
        const { API } = await load(folder, "server.js");
        const server = await startServer(t);
        const api = new API({ url: server.url, user: "alice" });
        for (const path of [undefined, {}, { rom: "lobby" }, { room: undefined }, { room: null }, { room: "" }, { room: "." }, { room: ".." }, { room: {} }]) {
            await assert.rejects(api.request("POST /v1/rooms/{room}/messages", { path, body: { text: "hi" } }), { name: "ClientError", code: "invalid_path", field: "room", status: 400 });
        }
        await assert.rejects(api.request("DELETE /v1/rooms/{room}/members/{user}", { path: { room: "lobby", user: ".." } }), { code: "invalid_path", field: "user" });
        const client = clientOf(t, server, "alice");
        const calls = [
            () => client.rooms.make(), () => client.rooms.delete(), () => client.rooms.join(""), () => client.rooms.add("bob"), () => client.rooms.direct(),
            () => client.blocks.block(), () => client.room("lobby").react(1), () => client.room("lobby").loadMessage(),
        ];
        for (const call of calls) await assert.rejects(call(), { code: "invalid_path" }, String(call));
        assert.deepEqual(await server.history("undefined"), []);
    });

    test("tells answers that do not come from Backscroll by their status", async (t) => {
        const { API } = await load(folder, "server.js");
        let answer;
        const proxy = createHTTPServer((_, response) => {
            response.writeHead(answer.status, { "Content-Type": answer.type ?? "text/html", "Retry-After": "7" });
            response.end(answer.body);
        }).listen(0, "127.0.0.1");
        await once(proxy, "listening");
        t.after(() => proxy.close());
        const url = `http://127.0.0.1:${proxy.address().port}`;
        const client = clientOf(t, url, "alice");
        const api = new API({ url, user: "alice" });
        const refusals = [() => client.request("GET", "/v1/rooms"), () => api.request("GET /v1/rooms")];
        const json = "application/json";
        for (const status of [401, 403, 404, 413, 429, 502, 503]) {
            for (const [type, body] of [["text/html", "<h1>no</h1>"], [json, "<h1>no</h1>"], [json, '{"message":"no"}'], [json, '{"code":5}'], [json, "null"], [json, '"no"'], [json, ""]]) {
                answer = { status, type, body };
                for (const refusal of refusals) await assert.rejects(refusal, { code: `http_${status}`, status, retryAfter: 7 }, body);
            }
        }
        answer = { status: 503, type: "application/problem+json", body: '{"code":"overloaded","detail":"Later."}' };
        for (const refusal of refusals) await assert.rejects(refusal, { code: "overloaded", message: "Later.", status: 503 });
        answer = { status: 200, type: json, body: "<h1>Sign in</h1>" };
        for (const refusal of refusals) await assert.rejects(refusal, { code: "invalid_answer", status: 0 });
    });

    test("takes no answer of another form for the server's, and goes on once it is gone", async (t) => {
        const server = await startServer(t);
        let answer = null;
        /** A captive portal, which answers everything with success. */
        const portal = (...parameters) => (answer === null ? fetch(...parameters) : Promise.resolve(new Response(answer)));
        const client = clientOf(t, server, "alice", { fetch: portal });
        const invalid = { name: "ClientError", code: "invalid_answer", status: 0, isTemporary: true };
        const { search } = await load(folder, "search.js");
        const { Profiles } = await load(folder, "profiles.js");
        const { Notify } = await load(folder, "notify.js");
        const { Pins } = await load(folder, "pins.js");
        const lobby = client.room("lobby");
        const other = await client.room("other").open();
        await until(other, () => other.view.connection === "live");
        await other.send("before");
        const calls = [
            () => client.rooms.summary("lobby"), () => client.rooms.make("lobby"), () => client.rooms.delete("lobby"), () => client.rooms.join("lobby"),
            () => client.rooms.leave("lobby"), () => client.rooms.members("lobby"), () => client.rooms.add("bob", "lobby"), () => client.rooms.mentions(),
            () => client.rooms.direct("bob"), () => client.rooms.markRead("lobby", 1), () => client.blocks.open(), () => client.blocks.block("bob"),
            () => client.blocks.unblock("bob"), () => lobby.loadMessage(1), () => lobby.reactors(1, "+"), () => lobby.reads(), () => lobby.report(1, "spam"),
            () => search(client, "word").next(), () => new Profiles(client).load(["bob"]), () => new Profiles(client).set({ name: "Bob" }),
            () => new Notify(client).set("lobby", { level: "none" }), () => new Pins(client, other).pin(1),
        ];
        for (answer of ["{}", "[]", '"no"', "5", "true"]) for (const call of calls) await assert.rejects(call(), invalid, `${answer} ${call}`);
        answer = "{}";
        await assert.rejects(client.rooms.open(), invalid);
        await assert.rejects(lobby.open(), invalid);
        const sent = [other.send("held"), lobby.send("first"), other.edit(1, "changed")];
        assert.equal(await client.request("GET", "/v1/rooms").then(JSON.stringify), "{}");
        answer = null;
        client.networkPathChanged();
        await Promise.all([...sent, lobby.open(), client.rooms.open()]);
        assert.deepEqual([texts(other), texts(lobby)], [["changed", "held"], ["first"]]);
        await assertOnce(server, "lobby", ["first"]);
    });

    test("tells that the app has no token, and shows what waits for one", async (t) => {
        const { signToken } = await load(folder, "server.js");
        const secret = "s".repeat(32);
        const server = await startTokenServer(t, secret);
        let makeToken;
        const failing = [() => { throw new Error("no session"); }, () => undefined, () => "no token", () => Promise.reject(new Error("no session"))];
        for (const token of failing) {
            makeToken = token;
            const client = new Client({ url: server.url, token: () => makeToken(), WebSocket });
            t.after(() => client.close());
            const room = client.room(`room${failing.indexOf(token)}`);
            const shown = [];
            room.subscribe(() => shown.push(texts(room).join()));
            const sent = [room.send("first"), room.send("second")];
            await until(client.connection, () => client.connection.view.error?.code === "token_unavailable");
            await until(room, () => texts(room).length === 2);
            assert.deepEqual(room.view.rows.map(({ state, mine }) => `${state} ${mine}`).slice(-2), ["queued true", "queued true"]);
            const keys = room.view.rows.map(({ key }) => key).slice(-2);
            makeToken = () => signToken(secret, { sub: "alice" });
            assert.deepEqual((await Promise.all(sent)).map(({ seq }) => seq), [1, 2]);
            await until(room, () => room.view.rows.every(({ state }) => !state || state === "stored"));
            assert.deepEqual(room.view.rows.map(({ key }) => key).slice(-2), keys);
            assert.equal(shown.slice(shown.indexOf("first,second")).every((text) => text === "first,second"), true);
            assert.equal(client.connection.view.error, null);
        }
        const list = new Client({ url: server.url, token: failing[0], WebSocket });
        t.after(() => list.close());
        list.rooms.open().catch(() => {});
        await until(list.connection, () => list.connection.view.error?.code === "token_unavailable");
    });

    test("goes on without a store that does not answer", async (t) => {
        const server = await startServer(t);
        const never = () => new Promise(() => {});
        const told = [];
        const client = clientOf(t, server, "alice", {
            store: { get: never, set: never, remove: never, keys: never }, requestTimeout: 300, onStoreFailure: ({ message }) => told.push(message),
        });
        const room = await client.room("lobby").open();
        const sent = numbers(20);
        for (const text of sent) await room.enqueue(text);
        await until(room, () => room.view.rows.every(({ state }) => !state || state === "stored"));
        assert.ok(told.includes("The store does not answer."), told.join());
        await client.rooms.open();
        await client.close();
        await assertOnce(server, "lobby", sent);
    });

    test("takes what cannot be stored for nothing, and tells it once", async (t) => {
        const server = await startServer(t);
        const at = Date.now();
        const wrong = [{}, [], "text", 5, true, { draft: null, at, order: 1 }, { draft: {}, at, order: 1 }, { draft: { client_message_id: 5 }, at, order: 1 },
            { draft: { client_message_id: "a", text: "no" }, at: "now", order: 1 }, { draft: { client_message_id: "a", text: "no" }, at }];
        const store = new MemoryStore();
        const prefix = `backscroll/${encodeURIComponent(server.url)}/alice/`;
        for (const [index, value] of wrong.entries()) await store.set(`${prefix}unsent/lobby/${index}`, value);
        await store.set(`${prefix}unsent/lobby/good`, { draft: { client_message_id: "good", text: "good" }, at, order: 1 });
        const told = [];
        const client = clientOf(t, server, "alice", { store, onStoreFailure: ({ message }) => told.push(message) });
        await client.sendUnsent();
        const reader = await clientOf(t, server, "bob").room("lobby").open();
        await until(reader, () => texts(reader).length === 1);
        await client.room("lobby").open();
        assert.deepEqual(told.sort(), wrong.map((_, index) => `The store has no message under ${prefix}unsent/lobby/${index}.`).sort());
        for (const value of [...wrong, { rooms: 5 }, { rooms: [null, {}] }, { messages: [null] }, { messages: [{}], epoch: "e" }]) {
            const other = clientOf(t, server, "carol", { store: { get: async () => value, set: async () => {}, remove: async () => {}, keys: async () => value } });
            assert.deepEqual(texts(await other.room("lobby").open()), ["good"]);
            await other.rooms.open();
            assert.deepEqual(await other.roomsWithUnsentMessages(), []);
            await other.close();
        }
    });

    test("gives the hook of a room that cannot be an error", async (t) => {
        const modules = join(folder, "node_modules");
        for (const name of ["react", "react-dom"]) cpSync(join("/usr/share/nodejs", name), join(modules, name), { recursive: true, dereference: true });
        const { ClientProvider, useRoom } = await load(folder, "react.js");
        const require = createRequire(join(folder, "index.js"));
        const [{ createElement }, { renderToString }] = [require("react"), require("react-dom/server")];
        const client = clientOf(t, "http://127.0.0.1:1", "alice");
        const Screen = ({ id }) => {
            const { room, view, error } = useRoom(id);
            assert.rejects(room.send("hi"), { code: error?.code });
            return `${view.rows.length} ${error?.code}`;
        };
        const shown = (id) => renderToString(createElement(ClientProvider, { client }, createElement(Screen, { id })));
        for (const id of ["a room", "", undefined]) assert.equal(shown(id), "0 invalid_room");
        await client.close();
        assert.equal(shown("lobby"), "0 closed");
    });
});

describe("The example of a bot", () => {
    test("answers each mention once, also if it is killed", async (t) => {
        const server = await startServer(t);
        copyFileSync(join(ROOT, "examples/bot.mjs"), join(folder, "bot.mjs"));
        const alice = clientOf(t, server, "alice");
        const room = await alice.room("lobby").open();
        const answers = () => room.view.rows.flatMap(({ message }) => (message?.sender === "bot" ? message.reply_to : []));
        const mentions = [];
        for (let round = 0; round < 3; round++) {
            const bot = spawn(process.execPath, [...SOCKET_OPTIONS, "bot.mjs", server.url, "bot", "lobby"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
            const ended = once(bot, "exit");
            for (let count = 0; count < 5; count++) {
                mentions.push((await room.send(`@bot question ${round}.${count}`)).seq);
                await room.send("nothing to answer");
            }
            // The last round goes to its end.
            const expected = round < 2 ? mentions.length - 3 : mentions.length;
            await until(room, () => answers().length >= expected);
            bot.kill("SIGKILL");
            await ended;
        }
        await until(room, () => answers().length >= mentions.length);
        const history = (await server.history("lobby")).filter(({ sender }) => sender === "bot");
        assert.deepEqual(history.map(({ reply_to: seq }) => seq), mentions);
    });

    /** Runs the bot until it has read its answers, which are so many, and returns the messages that they answer. */
    async function answered(test, server, url, count, work = async () => {}) {
        copyFileSync(join(ROOT, "examples/bot.mjs"), join(folder, "bot.mjs"));
        const bot = spawn(process.execPath, [...SOCKET_OPTIONS, "bot.mjs", url, "bot", "lobby"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
        test.after(() => bot.kill("SIGKILL"));
        await once(bot.stdout, "data");
        await work();
        const room = await clientOf(test, server, "reader").room("lobby").open({ at: "last" });
        room.followReads();
        await until(room, () => {
            const answers = room.view.rows.filter(({ message }) => message?.sender === "bot");
            return answers.length >= count && (room.view.readers.get("bot") ?? 0) >= answers.at(-1).seq;
        });
        return (await server.history("lobby")).filter(({ sender }) => sender === "bot").map(({ reply_to: seq }) => seq);
    }

    const say = (server, text) => server.request("POST", "/v1/rooms/lobby/messages?user=alice", { text });

    test("answers all mentions of a long absence", async (t) => {
        const server = await startServer(t);
        const mentions = [];
        for (let round = 0; round < 25; round++) {
            mentions.push((await say(server, "@bot question")).seq);
            await Promise.all(numbers(9).map((text) => say(server, text)));
        }
        assert.deepEqual(await answered(t, server, server.url, mentions.length), mentions);
    });

    test("answers mentions that are stored before its own answer and come later", async (t) => {
        const server = await startServer(t);
        const port = Number(new URL(server.url).port);
        const mentions = [];
        let [isHeld, isLost] = [false, false];
        const proxy = createServer((socket) => {
            const upstream = connect(port, "127.0.0.1");
            let isSocket = false;
            let turn = Promise.resolve();
            const pass = async (data) => {
                const text = data.toString("latin1");
                isSocket ||= /upgrade: websocket/i.test(text);
                if (text.startsWith("POST ") && !isHeld) {
                    isHeld = true;
                    for (let count = 0; count < 5; count++) mentions.push((await say(server, "@bot question")).seq);
                }
                // A page is lost as well.
                if (isHeld && !isLost && /^GET [^ ]*messages\?/.test(text)) {
                    isLost = true;
                    return void socket.destroy();
                }
                upstream.write(data);
            };
            socket.on("data", (data) => (turn = turn.then(() => pass(data))));
            upstream.on("data", (data) => isHeld && isSocket || socket.write(data));
            for (const [from, to] of [[socket, upstream], [upstream, socket]]) {
                from.on("error", () => to.destroy());
                from.on("close", () => to.destroy());
            }
        }).listen(0, "127.0.0.1");
        await once(proxy, "listening");
        t.after(() => proxy.close());
        const found = await answered(t, server, `http://127.0.0.1:${proxy.address().port}`, 6, async () => {
            mentions.push((await say(server, "@bot question")).seq);
        });
        assert.deepEqual(found, [...mentions].sort((one, other) => one - other));
    });
});

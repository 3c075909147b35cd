/** What the package is: its files, sizes, globals and types. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { install, ROOT, Server, WebSocket } from "./support.mjs";

const server = new Server();
let folder, modules;

before(async () => {
    await server.start();
    folder = await install(server);
    modules = join(folder, "node_modules/backscroll");
});
after(() => server.close());

/** Returns the modules that a module loads, itself included. */
function loaded(name, found = new Set()) {
    if (found.has(name)) return found;
    found.add(name);
    const source = readFileSync(join(modules, name), "utf8");
    for (const [, other] of source.matchAll(/from "\.\/([^"]+)"/g)) loaded(other, found);
    return found;
}

const minified = (file) => execFileSync("esbuild", ["--bundle", "--minify", "--format=esm", file]);

describe("The package", () => {
    test("has at most 45 KB compressed as shipped, and 25 KB minified", () => {
        const shipped = [...loaded("index.js")].reduce((sum, name) => sum + gzipSync(readFileSync(join(modules, name)), { level: 9 }).length, 0);
        assert.ok(shipped < 45_000, `${shipped} bytes`);
        const size = gzipSync(minified(join(modules, "index.js")), { level: 9 }).length;
        assert.ok(size < 25_000, `${size} bytes`);
    });

    test("ships the sources without their comments", () => {
        const names = readdirSync(join(ROOT, "Sources/Page/client")).filter((name) => name.endsWith(".js"));
        assert.deepEqual(readdirSync(modules).filter((name) => name.endsWith(".js")).sort(), names.sort());
        const compact = (file) => execFileSync("esbuild", ["--minify", "--format=esm", file], { encoding: "utf8" });
        for (const name of names) assert.equal(compact(join(modules, name)), compact(join(ROOT, "Sources/Page/client", name)), name);
    });

    test("exports what package.json names, with types", () => {
        const { exports, dependencies, version } = JSON.parse(readFileSync(join(modules, "package.json"), "utf8"));
        assert.equal(dependencies, undefined);
        assert.match(version, /^\d+\.\d+\.\d+$/);
        for (const target of Object.values(exports)) {
            for (const file of typeof target === "string" ? [target] : Object.values(target)) readFileSync(join(modules, file));
        }
    });

    test("needs only the globals that its documentation lists", async () => {
        const page = readFileSync(join(ROOT, "docs/javascript.md"), "utf8");
        const [, list] = page.match(/uses these globals, and no others: ([^.]*)\./);
        const names = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
        // Those of the language stay. Others, such as `document` and `crypto`, a new context does not have.
        const context = vm.createContext(Object.fromEntries(names.map((name) => [name, { WebSocket }[name] ?? globalThis[name]])));
        Object.assign(context, { url: server.url });
        const known = new Map();
        const link = async (specifier, from) => {
            const name = specifier.replace("./", "");
            assert.ok(!from || specifier.startsWith("./"), specifier);
            if (!known.has(name)) known.set(name, new vm.SourceTextModule(readFileSync(join(modules, name), "utf8"), { context, identifier: name }));
            return known.get(name);
        };
        const source = `
            import { Client } from "./index.js";
            const client = new Client({ url, user: "alice" });
            await client.rooms.open();
            const room = await client.room("lobby").open();
            await room.send("hello");
            await room.edit(1, "hello again");
            client.enterBackground();
            client.enterForeground();
            export const text = room.message(1).text;
            await client.close();
        `;
        const entry = new vm.SourceTextModule(source, { context, identifier: "entry" });
        await entry.link(link);
        await entry.evaluate();
        assert.equal(entry.namespace.text, "hello again");
    });
});

describe("The types", () => {
    const start = 'import { Changes, Client, ClientError, ConnectionView, Draft, Message, Profile, ReadMark, Readership, RoomSummary, RoomsView, Row, RoomView, unreadToast } from "backscroll";\n'
        + 'const client = new Client({ url: "https://chat.example.com", user: "alice" });\nconst room = client.room("lobby");\n';

    /** Returns what the compiler says about programs. */
    function check(...sources) {
        const files = sources.map((source, index) => {
            writeFileSync(join(folder, `app${index}.ts`), start + source);
            return `app${index}.ts`;
        });
        const config = { strict: true, noEmit: true, target: "es2022", module: "esnext", moduleResolution: "node", types: [], lib: ["es2022", "dom"] };
        writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: config, files }));
        return spawnSync("tsc", ["--project", "."], { cwd: folder, encoding: "utf8" }).stdout;
    }

    test("accept a program that uses everything as documented", () => {
        assert.equal(check(`
            import { IndexedDBStore } from "backscroll/store-indexeddb";
            import { Notify } from "backscroll/notify";
            import { groupPlace, inverted, ListLayout, ListReporter } from "backscroll/list";
            import { Pins } from "backscroll/pins";
            import { search } from "backscroll/search";
            import { Profiles } from "backscroll/profiles";
            import { API, signToken, verifyWebhook } from "backscroll/server";
            import { difference, Effect, Event, Frame, Page, Query, Timeline, View } from "backscroll/timeline";
            import { ClientProvider, useClient, useConnection, useRoom, useRooms } from "backscroll/react";
            const other = new Client({ url: "https://a.example", token: async () => "t", store: new IndexedDBStore(), headers: { a: "b" } });
            async function use(): Promise<number> {
                await room.open({ at: "read" });
                await room.open({ at: 5 });
                await room.open({ at: "mention" });
                await client.request("GET", "/v1/rooms", { query: { limit: 1 } });
                const view: RoomView = room.view;
                const rows: readonly Row[] = view.rows;
                const message = await room.send({ text: "hi", attachments: [{ type: "image", url: "https://a.example/a.png", width: 1, height: 1 }] });
                await room.edit(message.seq, "ho", { ifRev: message.rev });
                room.setViewport({ atBottom: true, lastVisible: null });
                const unsubscribe: () => void = room.subscribe(() => {});
                unsubscribe();
                const list = await client.rooms.open();
                await list.add("bob", "plans", "owner");
                const api = new API({ url: "https://a.example", user: "bob" });
                const page = await api.request("GET /v1/rooms/{room}/messages", { path: { room: "lobby" }, query: { limit: 1, around: "unread" } });
                console.log((await api.request("GET /v1/rooms")).rooms.length, (await api.request("GET /v1/rooms", { query: { limit: 5 } })).has_more);
                const text: string | undefined = page.messages[0]?.text;
                signToken("s", { sub: "alice" }, { expiresIn: 5 });
                verifyWebhook("whsec_x", {}, "{}").room;
                const { effects } = new Timeline().handle({ event: "open", at: "last" });
                for (const effect of effects) if (effect.effect === "fetch") console.log(effect.query.around, text, rows);
                const frame: Frame = { type: "message", message };
                const query: Query = { limit: 30, before: 5 };
                const event: Event = { event: "frame", frame };
                const draft: Draft = { text: "hi", data: { kind: "test" } };
                const changes: Changes = { attachments: [] };
                const shown: View = new Timeline().handle(event).view;
                const effect: Effect = { effect: "scroll", to: "bottom" };
                const answer: Page = { messages: [message], has_before: false, has_after: true, head: 2, rev: 2, epoch: "e" };
                console.log(query, changes, shown.rows, effect.to, answer, difference(view, view), unreadToast(view)?.count, new Map(view.readers));
                await room.report(1, "other", { note: "see above" });
                const marks: ReadMark[] = (await room.reads({ from: 5 })).reads;
                const blocked: ReadonlySet<string> = (await client.blocks.open()).view;
                console.log(marks[0]?.at, blocked.size, (await list.direct("bob")).direct, message.mentions?.length);
                const profiles = new Profiles(client, [{ user: "bob", name: "Bob" }]);
                const profile: Profile = await profiles.set({ name: "Alice", data: { team: 5 } });
                profiles.note((await list.members("plans", { profiles: true })).members);
                const readership: Readership | null = room.view.readership;
                console.log(profiles.get("bob")?.avatar, profile.name, (await profiles.load(["bob"])).length, readership?.unreadCount(rows[0]!));
                const mentioning: { messages: Message[], hasMore: boolean, cursor?: string } = await list.mentions({ limit: 10 });
                console.log(mentioning.messages[0]?.mentions, list.get("plans")?.unread_mentions, list.get("plans")?.first_unread_mention);
                const layout = new ListLayout({ height: 800, estimate: 56 });
                layout.apply(difference({ rows: [] }, view), { isEnd: view.after === "end", scroll: "bottom", share: 0.5 });
                const events = new ListReporter().events(layout, view);
                console.log(layout.offset + 1, layout.frame("7")?.top, events[0].event, inverted(1, layout.count), groupPlace(view.rows, 0).isFirst);
                const pins = new Pins(client, room);
                const pinned: readonly Message[] = pins.view;
                for await (const { hits, hasMore } of search(client, "notes", { room: "lobby", has: "image", before: new Date() })) {
                    console.log(hits[0]?.message.text?.slice(...hits[0].highlights[0]!), hasMore);
                }
                console.log((await pins.pin(1)).pinned?.by, (await pins.unpin(1)).seq, pinned[0]?.pinned?.at);
                const notify = new Notify(client);
                console.log((await notify.set("plans", { level: "none", until: new Date() })).until, notify.get("plans").level, notify.total, notify.unread("plans"));
                await list.change("plans", { posting: "owners", pinning: "members", slow_seconds: 10, keep_days: 0, avatar: "", data: {} });
                await room.enqueue(draft);
                room.onMessage(({ seq, reactions }) => console.log(seq, reactions?.[0]?.users));
                const { users, hasMore }: { users: string[], hasMore: boolean } = await room.reactors(1, "👍");
                const summary: RoomSummary = await list.change("plans", { title: null, visibility: "open" });
                const { members } = await list.members("plans", { after: users[0] });
                console.log(members[0]?.role === "owner", summary.last_message?.sender, hasMore);
                ClientProvider({ client });
                const hooked = useRoom("lobby", { at: "last" });
                const mine: RoomsView = useRooms().view;
                const state: ConnectionView = useConnection();
                console.log(hooked.room.id, hooked.view.unread, hooked.error?.code, mine.isLive, state.state, useClient().userID());
                try { await room.jump("last"); } catch (error) { if (error instanceof ClientError) return error.retryAfter ?? error.status; }
                return other.connection.view.state === "open" ? list.view.unread : 0;
            }
            use();`), "");
    });

    /** Programs with a mistake, by the part of the package and what is wrong. Each is a module of its own. */
    const wrong = {
        "a client without a server": 'new Client({ user: "alice" });',
        "a client without a user": 'new Client({ url: "https://a.example" });',
        "a client with a name and a token": 'new Client({ url: "https://a.example", user: "alice", token: async () => "t" });',
        "a client with an unknown option": 'new Client({ url: "https://a.example", user: "alice", retries: 3 });',
        "a client with a socket that is none": 'new Client({ url: "https://a.example", user: "alice", WebSocket: fetch });',
        "a client with a fetch that returns a text": 'new Client({ url: "https://a.example", user: "alice", fetch: async () => "text" });',
        "a client with headers of numbers": 'new Client({ url: "https://a.example", user: "alice", headers: { a: 1 } });',
        "a client whose rooms are replaced": "client.rooms = client.rooms;",
        "a token that is no function": 'new Client({ url: "https://a.example", token: "t" });',
        "a token that is a number": 'new Client({ url: "https://a.example", token: () => 5 });',
        "a store that lacks a function": 'new Client({ url: "https://a.example", user: "a", store: { get: async () => undefined } });',
        "a store that is not asynchronous": 'new Client({ url: "https://a.example", user: "a", store: { get: () => 1, set() {}, remove() {}, keys: () => [] } });',
        "a request's answer that is not awaited": 'client.request("GET", "/v1/rooms").rooms;',
        "a request with a query of objects": 'client.request("GET", "/v1/rooms", { query: { limit: {} } });',
        "a user's id that is not awaited": "client.userID().length;",
        "a connection in a state that does not exist": 'client.connection.view.state === "online";',
        "a connection's view that is changed": "client.connection.view.error = null;",
        "a room that is a number": "client.room(1);",
        "a place that is no place": 'room.open({ at: "first" });',
        "a place that is not named": "room.open(5);",
        "a jump to a key": 'room.jump("me/a1");',
        "a message that is a number": "room.send(42);",
        "a message's own id that is a number": 'const id: number = await room.enqueue("hi");',
        "a retry by a number": "room.retry(5);",
        "a room's id that is a number": "const id: number = room.id;",
        "a draft with an unknown field": 'room.send({ body: "hi" });',
        "a draft that replies to a text": 'room.send({ text: "hi", reply_to: "1" });',
        "a draft with data that is a text": 'const draft: Draft = { data: "text" };',
        "a draft with a number as its id": "const draft: Draft = { text: \"hi\", client_message_id: 1 };",
        "a draft with one attachment instead of several": 'const draft: Draft = { attachments: { type: "image", url: "https://a.example" } };',
        "an attachment of an unknown type": 'room.send({ attachments: [{ type: "gif", url: "https://a.example" }] });',
        "an attachment without an address": 'room.send({ attachments: [{ type: "image" }] });',
        "an attachment with a width that is a text": 'room.send({ attachments: [{ type: "image", url: "https://a.example", width: "1" }] });',
        "an edit of nothing": 'room.edit("1", "text");',
        "an edit of a reply": "const changes: Changes = { reply_to: 5 };",
        "an edit with a revision that is a text": 'room.edit(1, "text", { ifRev: "5" });',
        "a reaction without a key": "room.react(1);",
        "a reactor that is an object": 'const [{ user }] = (await room.reactors(1, "a")).users;',
        "a viewport without a place": "room.setViewport({ atBottom: true });",
        "a viewport with the key of a row": 'room.setViewport({ atBottom: true, lastVisible: "5" });',
        "a report without a reason": "room.report(1);",
        "a report for a reason that does not exist": 'room.report(1, "rude");',
        "a read mark that is a number": "const marks: number[] = (await room.reads()).reads;",
        "a draft that mentions one user instead of several": 'const draft: Draft = { text: "hi", mentions: "bob" };',
        "a draft that is silent in words": 'const draft: Draft = { text: "hi", silent: "yes" };',
        "a draft that expects a text": 'const draft: Draft = { text: "hi", expect_head: "41" };',
        "a block of a number": "client.blocks.block(5);",
        "blocked users that are changed": 'client.blocks.view.add("bob");',
        "a profile with a name that is a number": 'import { Profiles } from "backscroll/profiles"; new Profiles(client).set({ name: 5 });',
        "a profile that may not be there": 'import { Profiles } from "backscroll/profiles"; new Profiles(client).get("bob").name;',
        "a layout without an estimate": 'import { ListLayout } from "backscroll/list"; new ListLayout({ height: 800 });',
        "a search for another kind of content": 'import { search } from "backscroll/search"; search(client, "notes", { has: "video" });',
        "a pin of a message": 'import { Pins } from "backscroll/pins"; new Pins(client, room).pin("1");',
        "a room in which all may post": 'client.rooms.change("plans", { posting: "all" });',
        "a readership that may not be there": "(row: Row) => room.view.readership.tick(row);",
        "a direct room with two users": 'client.rooms.direct(["alice", "bob"]);',
        "a listener that is a text": 'room.subscribe("listener");',
        "a listener of messages that takes a text": "room.onMessage((message: string) => message);",
        "a message that may not be there": "room.message(1).text;",
        "a message whose text is always there": 'const message: Message = await room.loadMessage(1); message.text.length;',
        "a message's number that is a text": "const seq: string = (await room.loadMessage(1)).seq;",
        "a message's time that is a date": "(await room.loadMessage(1)).created_at.getTime();",
        "a promise used as a message": 'room.send("hi").seq;',
        "a view that is changed": "room.view.unread = 0;",
        "a view's rows that are changed": "room.view.rows.push(room.view.rows[0]);",
        "a view's readers that are changed": 'room.view.readers.set("bob", 1);',
        "a view's connection that does not exist": 'room.view.connection === "connected";',
        "a view's edge that does not exist": 'room.view.before === "more";',
        "a view's phase that does not exist": 'room.view.phase === "loading";',
        "a view's read mark that is always known": "const read: number = room.view.read;",
        "a view's toast that is always there": "room.view.toast.count;",
        "a view's ban that is an object": "room.view.ban?.until;",
        "a field that a view lacks": "room.view.messages;",
        "a row with a state that does not exist": 'const isSent = (row: Row) => row.state === "sent";',
        "a row whose message is always there": "const text = (row: Row) => row.message.text;",
        "a row without a key": 'const row: Row = { state: "stored" };',
        "an error's status that is a text": 'const is = (error: ClientError) => error.status === "403";',
        "a role that does not exist": 'client.rooms.add("bob", "plans", "admin");',
        "a visibility that does not exist": 'client.rooms.make("plans", { visibility: "hidden" });',
        "a room's title that is a number": 'client.rooms.change("plans", { title: 5 });',
        "a listed room that may not be there": 'client.rooms.get("plans").unread;',
        "a list of rooms that is changed": "client.rooms.view.rooms.pop();",
        "a page of members that is a list": 'for (const member of await client.rooms.members("plans")) member;',
        "a frame of an unknown type": 'import { Frame } from "backscroll/timeline"; const frame: Frame = { type: "joined", room: "lobby" };',
        "a frame without its message": 'import { Frame } from "backscroll/timeline"; const frame: Frame = { type: "message" };',
        "a frame's field that belongs to another type": 'import { Frame } from "backscroll/timeline"; const user = (frame: Frame) => frame.type === "live" && frame.user;',
        "a frame with a mark that is a text": 'import { Frame } from "backscroll/timeline"; const frame: Frame = { type: "read", room: "lobby", user: "bob", seq: "5" };',
        "a query without its limit": 'import { Query } from "backscroll/timeline"; const query: Query = { around: "unread" };',
        "a query around a place that is none": 'import { Query } from "backscroll/timeline"; const query: Query = { around: "read", limit: 30 };',
        "a query with an unknown field": 'import { Query } from "backscroll/timeline"; const query: Query = { from: 5, limit: 30 };',
        "a query before a text": 'import { Query } from "backscroll/timeline"; const query: Query = { before: "5", limit: 30 };',
        "an effect that does not exist": 'import { Effect } from "backscroll/timeline"; const is = (effect: Effect) => effect.effect === "draw";',
        "an effect's field that belongs to another one": 'import { Effect } from "backscroll/timeline"; const draft = (effect: Effect) => effect.effect === "fetch" && effect.draft;',
        "an effect without its request": 'import { Effect } from "backscroll/timeline"; const effect: Effect = { effect: "fetch", query: { limit: 30 } };',
        "an effect that subscribes without an epoch": 'import { Effect } from "backscroll/timeline"; const effect: Effect = { effect: "subscribe", since: 5 };',
        "an effect with a draft that has no id": 'import { Effect } from "backscroll/timeline"; const effect: Effect = { effect: "post", draft: { text: "hi" } };',
        "an event that is malformed": 'import { Timeline } from "backscroll/timeline"; new Timeline().handle({ event: "open" });',
        "an event that does not exist": 'import { Timeline } from "backscroll/timeline"; new Timeline().handle({ event: "close" });',
        "an event near an edge that does not exist": 'import { Timeline } from "backscroll/timeline"; new Timeline().handle({ event: "near", edge: "top" });',
        "an event with a page that lacks its revision": 'import { Timeline } from "backscroll/timeline"; new Timeline().handle({ event: "page", request: 1, page: { messages: [] } });',
        "a timeline's view that lacks a field": 'import { View } from "backscroll/timeline"; const view: View = { rows: [] };',
        "a timeline's view with a room's field": 'import { Timeline } from "backscroll/timeline"; new Timeline().view.readers;',
        "a hook without its room": 'import { useRoom } from "backscroll/react"; useRoom();',
        "a hook of a room at a place that is none": 'import { useRoom } from "backscroll/react"; useRoom("lobby", { at: "first" });',
        "a hook's view that is used as a room": 'import { useRoom } from "backscroll/react"; useRoom("lobby").view.send("hi");',
        "a hook's error that is always there": 'import { useRoom } from "backscroll/react"; useRoom("lobby").error.code;',
        "a hook of rooms used as their list": 'import { useRooms } from "backscroll/react"; useRooms().map(({ room }) => room);',
        "a hook's client that is used as a text": 'import { useClient } from "backscroll/react"; const id: string = useClient();',
        "a hook's connection that is a text": 'import { useConnection } from "backscroll/react"; useConnection() === "open";',
        "a provider without a client": 'import { ClientProvider } from "backscroll/react"; ClientProvider({ children: [] });',
        "an operation that does not exist": 'import { API } from "backscroll/server"; new API({ url: "" }).request("GET /v1/nothing");',
        "an operation without its path": 'import { API } from "backscroll/server"; new API({ url: "" }).request("GET /v1/rooms/{room}", { path: {} });',
        "an operation without what names its room": 'import { API } from "backscroll/server"; new API({ url: "" }).request("DELETE /v1/rooms/{room}");',
        "an operation with a wrong name for its room": 'import { API } from "backscroll/server"; new API({ url: "" }).request("DELETE /v1/rooms/{room}", { path: { rom: "a" } });',
        "the time of a read mark that is always there": "const at: string = (await room.reads()).reads[0]!.at;",
        "an operation with an unknown query": 'import { API } from "backscroll/server"; new API({ url: "" }).request("GET /v1/rooms", { query: { page: 2 } });',
        "an operation with a body of another one": 'import { API } from "backscroll/server"; new API({ url: "" }).request("PUT /v1/rooms/{room}/read", { path: { room: "a" }, body: { text: "a" } });',
        "an operation's answer that lacks a field": 'import { API } from "backscroll/server"; (await new API({ url: "" }).request("GET /v1/rooms")).members;',
        "an API without a server": 'import { API } from "backscroll/server"; new API({ user: "bob" });',
        "a token that is signed for nobody": 'import { signToken } from "backscroll/server"; signToken("secret", { admin: true });',
        "a token that is signed for a number": 'import { signToken } from "backscroll/server"; signToken("secret", { sub: 5 });',
        "a token that expires at a date": 'import { signToken } from "backscroll/server"; signToken("secret", { sub: "alice" }, { expiresIn: new Date() });',
        "a webhook without its body": 'import { verifyWebhook } from "backscroll/server"; verifyWebhook("whsec_x", {});',
        "a webhook that is read already": 'import { verifyWebhook } from "backscroll/server"; verifyWebhook("whsec_x", {}, { type: "messages" });',
        "a webhook's secret that may not be there": 'import { verifyWebhook } from "backscroll/server"; const secret = (): string | undefined => undefined; verifyWebhook(secret(), {}, "");',
        "an IndexedDB with a number as its name": 'import { IndexedDBStore } from "backscroll/store-indexeddb"; new IndexedDBStore(5);',
        "a module that does not exist": 'import "backscroll/nothing"; import { nothing } from "backscroll";',
    };
    let said;
    for (const [index, name] of Object.keys(wrong).entries()) {
        test(`refuse ${name}`, () => {
            said ??= check(...Object.values(wrong));
            assert.match(said, new RegExp(`^app${index}\\.ts\\(\\d+,\\d+\\): error TS`, "m"));
        });
    }
});

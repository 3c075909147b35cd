/** What the package is: its files, sizes, globals and types. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { install, ROOT, Server } from "./support.mjs";

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
        const context = vm.createContext(Object.fromEntries(names.map((name) => [name, globalThis[name]])));
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
    const start = 'import { Client, ClientError, MemoryStore, Row, RoomView } from "backscroll";\n'
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
            import { API, signToken, verifyWebhook } from "backscroll/server";
            import { Timeline } from "backscroll/timeline";
            const other = new Client({ url: "https://a.example", token: async () => "t", store: new IndexedDBStore(), headers: { a: "b" } });
            async function use(): Promise<number> {
                await room.open({ at: "read" });
                await room.open({ at: 5 });
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
                const text: string | undefined = page.messages[0]?.text;
                signToken("s", { sub: "alice" }, { expiresIn: 5 });
                verifyWebhook("whsec_x", {}, "{}").room;
                const { effects } = new Timeline().handle({ event: "open", at: "last" });
                for (const effect of effects) if (effect.effect === "fetch") console.log(effect.query.around, text, rows);
                try { await room.jump("last"); } catch (error) { if (error instanceof ClientError) return error.retryAfter ?? error.status; }
                return other.connection.view.state === "open" ? list.view.unread : 0;
            }
            use();`), "");
    });

    const wrong = {
        "a client without a server": 'new Client({ user: "alice" });',
        "a client without a user": 'new Client({ url: "https://a.example" });',
        "a client with a name and a token": 'new Client({ url: "https://a.example", user: "alice", token: async () => "t" });',
        "a token that is no function": 'new Client({ url: "https://a.example", token: "t" });',
        "a store that lacks a function": 'new Client({ url: "https://a.example", user: "a", store: { get: async () => undefined } });',
        "a room that is a number": "client.room(1);",
        "a place that is no place": 'room.open({ at: "first" });',
        "a message that is a number": "room.send(42);",
        "a message with an unknown field": 'room.send({ body: "hi" });',
        "a reply to a text": 'room.send({ text: "hi", reply_to: "1" });',
        "an attachment of an unknown type": 'room.send({ attachments: [{ type: "gif", url: "https://a.example" }] });',
        "an edit of nothing": 'room.edit("1", "text");',
        "a reaction without a key": "room.react(1);",
        "a viewport without a place": "room.setViewport({ atBottom: true });",
        "a listener that is a text": 'room.subscribe("listener");',
        "a view that is changed": "room.view.unread = 0;",
        "rows that are changed": "room.view.rows.push(room.view.rows[0]);",
        "a state that does not exist": 'room.view.connection === "connected";',
        "a field that a view lacks": "room.view.messages;",
        "a role that does not exist": 'client.rooms.add("bob", "plans", "admin");',
        "a visibility that does not exist": 'client.rooms.make("plans", { visibility: "hidden" });',
        "a promise used as a message": 'room.send("hi").seq;',
        "an operation that does not exist": 'import { API } from "backscroll/server"; new API({ url: "" }).request("GET /v1/nothing");',
        "an operation without its path": 'import { API } from "backscroll/server"; new API({ url: "" }).request("GET /v1/rooms/{room}", { path: {} });',
        "an event that is malformed": 'import { Timeline } from "backscroll/timeline"; new Timeline().handle({ event: "open" });',
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

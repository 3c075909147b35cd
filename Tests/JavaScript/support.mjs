/**
 * Servers for tests of the package, and the package as npm installs it from a server's archive.
 *
 * The program is the release build, or what the variable BACKSCROLL names.
 *
 * @module support
 */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const PROGRAM = resolve(process.env.BACKSCROLL || join(ROOT, ".build/release/backscroll"));
const WS = "/usr/share/nodejs/ws";
/** The platform's sockets, or those of the package ws, which Node 20 needs. */
export const WebSocket = globalThis.WebSocket ?? createRequire(import.meta.url)(WS);
/** Options of node for a program that takes the platform's sockets. */
export const SOCKET_OPTIONS = globalThis.WebSocket ? []
    : ["--import", `data:text/javascript,import ws from "${pathToFileURL(join(WS, "wrapper.mjs"))}"; globalThis.WebSocket = ws;`];
/** Maximum time in which something that should happen must have, in milliseconds. */
const DEADLINE = 60000;

/** A server on a database of its own. It can be killed and started again, on the same port. */
export class Server {
    #flags;
    #process = null;
    #port = 0;
    directory = mkdtempSync(join(tmpdir(), "backscroll-js-"));

    constructor(...flags) {
        this.#flags = flags;
    }

    get url() {
        return `http://127.0.0.1:${this.#port}`;
    }

    async start() {
        const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BACKSCROLL")));
        const child = spawn(PROGRAM, [
            "serve", "--host", "127.0.0.1", "--port", String(this.#port), "--database", join(this.directory, "chat.db"),
            "--log-level", "error", ...this.#flags,
        ], { stdio: ["ignore", "pipe", "inherit"], env: environment });
        this.#process = child;
        for await (const line of createInterface({ input: child.stdout })) {
            this.#port = Number(line.split(":").at(-1));
            break;
        }
        child.stdout.resume();
        return this;
    }

    /** Ends it without giving it time, as a crash does. */
    async kill() {
        const child = this.#process;
        this.#process = null;
        if (!child) return;
        const ended = once(child, "exit");
        child.kill("SIGKILL");
        await ended;
    }

    async close() {
        await this.kill();
        rmSync(this.directory, { recursive: true });
    }

    /** Sends a request, and returns the JSON of its answer. */
    async request(method, path, body) {
        const response = await fetch(this.url + path, {
            method, body: body && JSON.stringify(body), headers: body ? { "Content-Type": "application/json" } : {},
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`${response.status} ${text}`);
        return text ? JSON.parse(text) : null;
    }

    /** Returns all messages of a room. */
    async history(room) {
        const messages = [];
        for (;;) {
            const page = await this.request("GET", `/v1/rooms/${room}/messages?after=${messages.at(-1)?.seq ?? 0}&limit=200&user=reader`);
            messages.push(...page.messages);
            if (!page.has_after) return messages;
        }
    }
}

/** Starts a server for a test. It ends with the test. */
export async function startServer(test, ...flags) {
    const server = await new Server(...flags).start();
    test.after(() => server.close());
    return server;
}

/** Installs the archive of a server into an empty folder, and returns the folder. */
export async function install(server) {
    const folder = mkdtempSync(join(tmpdir(), "backscroll-app-"));
    const entry = await (await fetch(`${server.url}/backscroll.js`)).text();
    const name = entry.match(/\.\/(backscroll-[^/]+)\//)[1];
    const archive = await fetch(`${server.url}/${name}.tgz`);
    writeFileSync(join(folder, `${name}.tgz`), Buffer.from(await archive.arrayBuffer()));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const npm = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
    // React, which is optional, is not looked for.
    execFileSync(process.execPath, [npm, "install", "--offline", "--legacy-peer-deps", "--no-audit", "--no-fund", `./${name}.tgz`], {
        cwd: folder, stdio: "pipe",
    });
    return folder;
}

/** Imports a module of an installed package. */
export const load = (folder, module = "index.js") => import(pathToFileURL(join(folder, "node_modules/backscroll", module)).href);

/** Waits until an asynchronous function returns true, where nothing tells of a change. */
export async function eventually(state) {
    const end = Date.now() + DEADLINE;
    while (!(await state())) {
        if (Date.now() > end) throw new Error(`${state} did not become true`);
        await wait(20);
    }
}

/** Waits until a function returns something, whenever a source tells a change. */
export function until(source, state) {
    return new Promise((resolve, reject) => {
        const look = () => {
            const value = state();
            if (!value) return;
            unsubscribe();
            clearTimeout(timer);
            resolve(value);
        };
        const unsubscribe = source.subscribe(look);
        const timer = setTimeout(() => reject(new Error(`${state} did not become true`)), DEADLINE);
        look();
    });
}

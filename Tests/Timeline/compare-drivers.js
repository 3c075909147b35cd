/**
 * Gives the same lines to two drivers and compares their answers, line by line and byte by byte.
 *
 *     node compare-drivers.js 'scripts/timeline swift'                        with timeline.js, a random seed
 *     node compare-drivers.js 'scripts/timeline swift' --seed 7 --runs 100    the runs of seeds 7 to 106
 *     node compare-drivers.js COMMAND --keep DIRECTORY                        keeps the lines there
 *
 * The lines are the events of the simulation, once as they are and once mixed with hostile lines: events with other
 * values, types or fields, numbers and strings that languages read differently, and text that is no JSON.
 *
 * Prints a line beginning with ok or not ok.
 */

import { spawn, spawnSync } from "node:child_process";
import { createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, execPath, exit, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { Timeline } from "../../Sources/Page/client/timeline.js";
import { answerLine, linesOf } from "./driver.js";
import { generator } from "./generator.js";

const { values: options, positionals } = parseArgs({
    args: argv.slice(2),
    allowPositionals: true,
    options: { seed: { type: "string" }, runs: { type: "string", default: "50" }, keep: { type: "string" } },
});
const [command] = positionals;
const firstSeed = Number(options.seed ?? Math.floor(Math.random() * 1_000_000));
const runs = Number(options.runs);
const directory = options.keep ?? mkdtempSync(join(tmpdir(), "timeline-"));
mkdirSync(directory, { recursive: true });

/** Marks a JSON token that JSON.stringify would write differently. */
const raw = (token) => `raw:${token}:raw`;
const write = (value) => JSON.stringify(value).replace(/"raw:(.*?):raw"/g, "$1");

const numbers = [
    "0", "-0", "-0.0", "1", "1.0", "1e0", "10e-1", "0.1e1", "1.5", "-1", "2", "7", "30", "200", "201", "1e2", "1E+2", "1e21",
    "1e400", "-1e400", "1e-400", "5e-324", "1.7976931348623157e308", "-1.7976931348623157e308", "9007199254740991",
    "9007199254740992", "9007199254740993", "-9007199254740991", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "123456789012345678901234567890", "0.1", "0.000001", "0.0000001", "1234567.891", "4.35",
    "8e15", "8.1e15", "-8e15", "1e16", "123e-20", "2.5e-7", "100000000000000000000", "1000000000000000000000", "1795348800000",
];
const noNumbers = ["01", "1.", ".5", "+1", "1e", "0x10", "NaN", "Infinity", "-", "--1", "1_000", "1e+"];
const strings = [
    "", "alice", "bob", "lobby", "é", "e\u0301", "É", "\u212b", "Å", "\u{1f642}", "a\u0000b", "\u2028", "\u2029", "\u0085", "\ufeff", "\u{10fffd}",
    "\u{10fffd}\u{10d83d}", "\ud83d", "\ude42", "\ude42\ud83d", "\ud83d\ud83d\ude42", "\\", '"', "/", "\u007f", "\u001f", "\r", "\n", "\t\b\f", "__proto__",
    "constructor", "toString", "read", "mention", "last", "before", "after", "message", "live", "cursor_unknown", "unread", "bottom", "s1", "s2", "0", "ﬃ", "ß", "İ",
    "가", "\u1112\u1161\u11ab", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "raw",
];
const dates = [
    "2026-11-22T12:00:00Z", "2026-11-22t12:00:00z", "2026-02-30T12:00:00Z", "2026-02-32T12:00:00Z", "2026-00-10T12:00:00Z", "2026-11-22T24:00:00Z",
    "2026-11-22T24:00:01Z", "2026-11-22T24:00:00.0001Z", "2026-11-22T24:00:00.001Z", "2026-11-22T23:59:60Z", "2026-11-22T23:59:59.9999Z",
    "2026-11-22T23:59:59+23:59", "2026-11-22T23:59:59+24:00", "2026-11-22T00:00:00-23:59", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-23:59", "1969-12-31T23:59:59.9999Z", "2024-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-11-22 12:00:00Z",
    "2026-11-22T12:00:00", "2026-11-22T12:00Z", "٢٠٢٦-11-22T12:00:00Z", "2026-11-22T12:00:00.Z", "2026-11-22T12:00:00.123456789012345678Z", "-000001-01-01T00:00:00Z",
];
const fields = [
    "event", "me", "room", "limit", "utc_offset", "utc_offsets", "window", "at", "messages", "has_before", "has_after", "rev", "epoch", "read", "request", "page", "status", "code",
    "retry_after", "frame", "edge", "at_bottom", "last_visible", "active", "draft", "client_message_id", "message", "to", "now", "type", "seq", "sender",
    "created_at", "deleted", "head", "unread", "first_unread", "first_unread_mention", "user", "users", "online", "text", "1", "0", "10", "4294967294", "4294967295", "01", "-1", "é", "__proto__",
];

const offsets = [
    [], [null], [[]], [[null]], [[null, 0]], [[null, 60], [0, -1440]], [[null, 60, 5]], [[0, 60]], [[null, 0], [null, 0]], [[null, 0], [5, 60], [5, 0]],
    [[null, 0], [5, 60], [4, 0]], [[null, 1441]], [[null, 0.5]], [[null, 0], [0.5, 0]], [[null, 0], ["5", 0]], [[null, "0"]], [[null, 0], [1795390000000, 600]],
    [[null, 0], [8e15, 600]], [[null, 0], [8000000000000001, 600]], [[null, 0], [-8e15, 600], [1795377600000, -600]], { 0: [null, 0] }, "[[null,0]]",
];

class Hostile {
    #random;

    constructor(random) {
        this.#random = random;
    }

    /** Returns the lines of a run, mixed with hostile ones. */
    of(lines) {
        const result = this.#chance(0.2) ? [this.#line(lines), lines[1] ?? ""] : [];
        for (const line of lines) {
            if (this.#chance(0.05)) result.push(this.#line(lines));
            if (this.#chance(0.03)) result.push(this.#event(line));
            else result.push(line);
        }
        return result;
    }

    #line(lines) {
        const line = this.#pick(lines);
        return this.#chance(0.6) ? this.#event(line) : this.#text(line);
    }

    /** Returns an event with some values or fields replaced. */
    #event(line) {
        const event = JSON.parse(line);
        for (let changes = this.#pick([1, 1, 1, 2, 4]); changes > 0; changes--) this.#change(event);
        return write(event);
    }

    #change(event) {
        const objects = [event];
        for (const object of objects) {
            const inner = Object.values(object).filter((value) => typeof value === "object" && value !== null);
            objects.push(...inner.slice(0, 8));
        }
        // The outer objects have the most important fields.
        const object = objects[Math.floor(this.#random() ** 2 * objects.length)];
        const known = Object.keys(object);
        const name = this.#chance(0.8) && known.length > 0 ? this.#pick(known) : this.#pick(fields);
        if (Array.isArray(object)) {
            if (this.#chance(0.3)) object.reverse();
            else if (this.#chance(0.3)) object.splice(0, 1);
            else object.push(this.#chance(0.5) && object.length > 0 ? object[0] : this.#value());
            return;
        }
        if (this.#chance(0.15)) delete object[name];
        else if (name === "created_at" && this.#chance(0.8)) object[name] = this.#pick(dates);
        else if (name.startsWith("utc_offset") && this.#chance(0.7)) object[this.#pick(["utc_offset", "utc_offsets"])] = structuredClone(this.#pick(offsets));
        else if (Number.isSafeInteger(object[name]) && this.#chance(0.5)) object[name] += this.#pick([-2, -1, 1, 2, 40]);
        else Object.defineProperty(object, name, { value: this.#value(), enumerable: true, configurable: true, writable: true });
    }

    #value(depth = 0) {
        const choice = this.#random();
        if (choice < 0.02) return structuredClone(this.#pick(offsets));
        if (choice < 0.35) return raw(this.#pick(numbers));
        if (choice < 0.7) return this.#pick(strings);
        if (choice < 0.8) return this.#pick([null, true, false]);
        if (depth > 2 || choice < 0.85) return this.#pick([[], {}]);
        const values = [this.#value(depth + 1), this.#value(depth + 1)];
        if (choice < 0.92) return values;
        return { [this.#pick(fields)]: values[0], [this.#pick(fields)]: values[1] };
    }

    /** Returns text that JSON.stringify would not write, or that is no JSON. */
    #text(line) {
        const at = Math.floor(this.#random() * (line.length + 1));
        const insert = (text) => line.slice(0, at) + text + line.slice(at);
        switch (Math.floor(this.#random() * 14)) {
            case 0: return line.slice(0, at);
            case 1: return insert(this.#pick([" ", "\t", "\r", "\u00a0", "\u2028", "\ufeff", "\v", "\f", "\u0000", ",", "}", "]", '"', "\\", "\\u"]));
            case 2: return line.slice(0, at) + line.slice(at + 1);
            case 3: return ` \t${line}\r`;
            case 4: return `${line}${this.#pick([" x", ",", "null", "\u0000", "\ufeff", "\u00a0"])}`;
            case 5: return `\ufeff${line}`;
            case 6: return this.#pick(["", " ", "null", "true", "3", '"open"', "[]", "{}", "[[[[", '{"event":null}', '{"event":["open"]}', "'x'", "undefined"]);
            case 7: return line.replace(/[a-z]/g, (letter) => (this.#chance(0.1) ? `\\u00${letter.charCodeAt(0).toString(16)}` : letter));
            case 8: return line.replace(/\d+/g, (digits) => (this.#chance(0.2) ? this.#pick(numbers) : digits));
            case 9: return line.replace(/:\d+/, () => `:${this.#pick(noNumbers)}`);
            // If a name occurs twice, the last value counts, at the place of the first.
            case 10: return line.replace(/^\{/, () => `{${JSON.stringify(this.#pick(fields))}:${write(this.#value())},`);
            case 11: return line.replace(/\}$/, () => `,${JSON.stringify(this.#pick(fields))}:${write(this.#value())}}`);
            case 12: return line.replace(/\}$/, `,"deep":${"[".repeat(500)}${"]".repeat(500)}}`);
            default: return Buffer.concat([Buffer.from(line.slice(0, at)), this.#bytes(), Buffer.from(line.slice(at))]);
        }
    }

    /** Returns bytes that are invalid UTF-8, or close to it. */
    #bytes() {
        return Buffer.from(this.#pick(["80", "c0af", "eda080", "f4908080", "e282", "f09f99", "ff", "c3", "c3a9", "f09f9982"]), "hex");
    }

    #chance(probability) {
        return this.#random() < probability;
    }

    #pick(list) {
        return list[Math.floor(this.#random() * list.length)];
    }
}

/** Compares the answers to the lines of a file. Returns the number of answers. */
async function compare(file) {
    const driver = spawn("bash", ["-c", `exec ${command}`], { stdio: ["pipe", "pipe", "inherit"] });
    createReadStream(file).pipe(driver.stdin);
    const answers = linesOf(driver.stdout);
    const timeline = new Timeline();
    let number = 0;
    for await (const line of linesOf(createReadStream(file))) {
        number++;
        const should = answerLine(timeline, line);
        const { value: is } = await answers.next();
        if (is === should) continue;
        driver.kill();
        throw new Error(`line ${number}: ${line}\nshould be ${should}\nbut is    ${is}`);
    }
    const { value: more, done } = await answers.next();
    if (!done) throw new Error(`there is an answer to no line: ${more}`);
    return number;
}

const range = ["--seed", String(firstSeed), "--runs", String(runs)];
const simulate = fileURLToPath(new URL("simulate.js", import.meta.url));
const recording = spawnSync(execPath, [simulate, ...range, "--record", directory], { encoding: "utf8" });
if (recording.status !== 0) {
    stdout.write(recording.stdout + recording.stderr);
    exit(1);
}
let total = 0;
for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    const file = join(directory, `${seed}.jsonl`);
    const hostileFile = join(directory, `${seed}-hostile.jsonl`);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const hostile = new Hostile(generator(seed)).of(lines);
    writeFileSync(hostileFile, Buffer.concat(hostile.flatMap((line) => [Buffer.from(line), Buffer.from("\n")])));
    try {
        total += await compare(file) + await compare(hostileFile);
    } catch (error) {
        stdout.write(`not ok - the drivers differ, --seed ${seed} --runs 1\n${error.message.replace(/^/gm, "    ")}\n`);
        exit(1);
    }
    if (options.keep === undefined) [file, hostileFile].forEach((path) => rmSync(path));
}
if (options.keep === undefined) rmSync(directory, { recursive: true });
stdout.write(`ok - both drivers answer ${total} lines alike, in runs from --seed ${firstSeed}\n`);

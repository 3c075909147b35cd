/** Expands the abbreviations of the cases, see README.md. */

import { readFileSync } from "node:fs";

const setups = JSON.parse(readFileSync(new URL("setups.json", import.meta.url), "utf8"));

/** Expands a list of events. */
export function expand(events) {
    return events.flatMap((event) => (typeof event === "string" ? expandText(event) : [expandEvent(event)]));
}

/** Returns rows in the form of a case: objects where the case has objects, otherwise `KEY`, `KEY STATE` or `KEY folded`. */
export function expandRows(rows, expected) {
    return rows.map((row, index) => {
        if (typeof expected[index] === "object") return row;
        if (row.folded) return `${row.key} folded`;
        return row.state === undefined || row.state === "stored" ? row.key : `${row.key} ${row.state}`;
    });
}

/** Returns effects in the form of a case: objects where the case has objects, otherwise text. */
export function expandEffects(effects, expected) {
    return effects.map((effect, index) => {
        if (typeof expected[index] === "object") return effect;
        switch (effect.effect) {
            case "fetch": {
                const query = Object.entries(effect.query).map(([name, value]) => `${name}=${value}`);
                return ["fetch", effect.request, ...query].join(" ");
            }
            case "subscribe":
                return `subscribe ${effect.since} ${effect.epoch}`;
            case "post":
                return `post ${effect.draft.client_message_id}`;
            case "mark_read":
                return `mark_read ${effect.seq}`;
            case "scroll":
                return `scroll ${effect.to}`;
        }
        return effect;
    });
}

/** Returns the rows of a list: `SEQ[..SEQ]`, `me/ID` for a send, `me/ID=SEQ` for a stored one, else a line. */
export function listRows(texts) {
    return texts.flatMap((text) => {
        const [key, seq] = text.split("=");
        if (key.startsWith("me/")) return [seq === undefined ? { key, state: "sending" } : { key, seq: Number(seq), state: "stored" }];
        if (!/^[0-9]/.test(key)) return [{ key }];
        const [first, last = first] = key.split("..").map(Number);
        return Array.from({ length: last - first + 1 }, (_, index) => ({ key: String(first + index), seq: first + index, state: "stored" }));
    });
}

function expandText(text) {
    const [word, ...rest] = text.split(" ");
    if (setups[text]) return expand(setups[text]);
    switch (word) {
        case "connected":
        case "disconnected":
            return [{ event: word }];
        case "open":
            return [{ event: "open", at: place(rest[0]) }];
        case "jump":
            return [{ event: "jump", to: place(rest[0]) }];
        case "near":
            return [{ event: "near", edge: rest[0] }];
        case "active":
            return [{ event: "active", active: rest[0] !== "false" }];
        case "time":
            return [{ event: "time", now: Number(rest[0]) }];
        case "blocked":
            return [{ event: "blocked", users: rest }];
        case "show":
            return [{ event: "show", seq: Number(rest[0]) }];
        case "viewport":
            return [{
                event: "viewport",
                at_bottom: rest.includes("bottom"),
                last_visible: rest.map(Number).find(Number.isInteger) ?? null,
            }];
        case "send":
            return rest.map((id) => ({
                event: "send",
                draft: { client_message_id: id, text: id },
                at: Date.parse("2026-11-22T12:00:00Z"),
            }));
        case "retry":
        case "discard":
            return [{ event: word, client_message_id: rest[0] }];
        case "sent": {
            const [message] = messages(rest.join(" "));
            return [{ event: "sent", client_message_id: message.client_message_id, message }];
        }
        case "send_failed":
            return [{ event: "send_failed", client_message_id: rest[0], status: Number(rest[1]) }];
        case "fetch_failed":
            return [{ event: "fetch_failed", request: Number(rest[0]), status: Number(rest[1]) }];
        case "subscribed":
            return [frame({ type: "subscribed", head: Number(rest[0]), rev: Number(rest[1]), epoch: rest[2] ?? "e1" })];
        case "live":
            return [frame({ type: "live", rev: Number(rest[0]) })];
        case "message":
            return messages(rest.join(" ")).map((message) => frame({ type: "message", message }));
        case "typing":
            return rest.map((user) => frame({ type: "typing", user }));
        case "read":
            return [frame({ type: "read", user: rest[0], seq: Number(rest[1]) })];
        case "presence":
            return [frame({ type: "presence", online: Number(rest[0]) })];
        case "error":
            return [frame({ type: "error", code: rest[0], message: "" })];
    }
    throw new Error(`no event and no setup: ${text}`);
}

function expandEvent(event) {
    if (typeof event.message === "string") return { ...event, message: messages(event.message)[0] };
    if (event.event === "restore") {
        const list = event.messages.flatMap(messages);
        const rev = Math.max(0, ...list.map((message) => message.rev));
        return { has_before: false, has_after: false, rev, epoch: "e1", read: null, ...event, messages: list };
    }
    if (event.event === "page") return { ...event, page: page(event.page) };
    return event;
}

function page(given) {
    const list = given.messages.flatMap(messages);
    const last = list.at(-1)?.seq ?? 0;
    const head = given.head ?? last;
    const rev = Math.max(head, ...list.map((message) => message.rev));
    const flags = { has_before: (list[0]?.seq ?? 1) > 1, has_after: last < head };
    return { ...flags, rev, epoch: "e1", ...given, head, messages: list };
}

/** `SEQ[..SEQ][@REV] [SENDER[/CLIENT_MESSAGE_ID]] [deleted] [on DATE]` */
function messages(text) {
    if (typeof text !== "string") return [text];
    const [range, ...rest] = text.split(" ");
    const [seqs, rev] = range.split("@");
    const [first, last = first] = seqs.split("..").map(Number);
    const date = rest.includes("on") ? rest.splice(rest.indexOf("on"), 2)[1] : "2026-11-22";
    const deleted = rest.includes("deleted");
    const [sender = "bob", id] = (rest.filter((word) => word !== "deleted")[0] ?? "bob").split("/");
    const list = [];
    for (let seq = first; seq <= last; seq++) {
        list.push({
            room: "lobby",
            seq,
            rev: rev === undefined ? seq : Number(rev),
            sender,
            ...(id === undefined ? {} : { client_message_id: id }),
            text: deleted ? undefined : `message ${seq}`,
            created_at: `${date}T12:00:00.000Z`,
            ...(deleted ? { deleted } : {}),
        });
    }
    return list;
}

const place = (text) => (["read", "mention", "last"].includes(text) ? text : Number(text));
const frame = (fields) => ({ event: "frame", frame: { ...fields, room: "lobby" } });

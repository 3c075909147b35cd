/** The verification of webhooks, against an implementation of Standard Webhooks that is not ours. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { verifyWebhook } from "../../Sources/Page/client/server.js";
import { ROOT } from "./support.mjs";

const python = join(ROOT, ".build/python/bin/python");

/** Returns what the other implementation makes of each case. */
const others = (cases) => JSON.parse(execFileSync(python, [join(ROOT, "Tests/JavaScript/standard_webhooks.py")], {
    input: JSON.stringify(cases), encoding: "utf8",
}));

const secret = () => `whsec_${randomBytes(32).toString("base64")}`;
const [first, second, other] = [secret(), secret(), secret()];
const now = Math.floor(Date.now() / 1000);
const body = JSON.stringify({ type: "messages", room: "lobby", messages: [{ seq: 1, text: "안녕 \u{1f44b} “hello”\n" }] });

/** Signs as a server does. */
function sign(key, { id = "msg_1", timestamp = now, text = body } = {}) {
    const bytes = Buffer.from(key.replace("whsec_", ""), "base64");
    return `v1,${createHmac("sha256", bytes).update(`${id}.${timestamp}.${text}`).digest("base64")}`;
}

const headersOf = (signature, id = "msg_1", timestamp = now) => ({
    "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signature,
});

/** Returns the code of the refusal; null if the delivery is verified. */
function refusal(secrets, headers, text = body) {
    try {
        assert.deepEqual(verifyWebhook(secrets, headers, text), JSON.parse(text));
        return null;
    } catch (error) {
        if (error.name !== "ClientError") throw error;
        return error.code;
    }
}

/** By what they are: the secrets of the receiver, the headers, and if the delivery is verified. */
const deliveries = {
    "one signature": [[first], headersOf(sign(first)), true],
    "a secret without its prefix": [[first.replace("whsec_", "")], headersOf(sign(first)), true],
    "two signatures while the secret is rotated, the old one first": [[first], headersOf(`${sign(second)} ${sign(first)}`), true],
    "two signatures while the secret is rotated, the new one first": [[first], headersOf(`${sign(first)} ${sign(second)}`), true],
    "a receiver with both secrets, and the old signature": [[second, first], headersOf(sign(first)), true],
    "a receiver with both secrets, and the new signature": [[second, first], headersOf(sign(second)), true],
    "a signature of another version beside it": [[first], headersOf(`v1a,${"A".repeat(86)}== ${sign(first)}`), true],
    "a time that is almost too old": [[first], headersOf(sign(first, { timestamp: now - 280 }), "msg_1", now - 280), true],
    "a time that is almost too new": [[first], headersOf(sign(first, { timestamp: now + 280 }), "msg_1", now + 280), true],
    "a time that is too old": [[first], headersOf(sign(first, { timestamp: now - 330 }), "msg_1", now - 330), false],
    "a time that is too new": [[first], headersOf(sign(first, { timestamp: now + 330 }), "msg_1", now + 330), false],
    "the secret of another webhook": [[other], headersOf(`${sign(first)} ${sign(second)}`), false],
    "no secret": [[], headersOf(sign(first)), false],
    "the id of another delivery": [[first], headersOf(sign(first), "msg_2"), false],
    "the time of another attempt": [[first], headersOf(sign(first), "msg_1", now - 1), false],
    "the body of another delivery": [[first], headersOf(sign(first, { text: `${body} ` })), false],
    "a signature of another version alone": [[first], headersOf(sign(first).replace("v1", "v2")), false],
    "a signature without its version": [[first], headersOf(sign(first).replace("v1,", "")), false],
    "an empty signature": [[first], headersOf("v1,"), false],
    "half a signature": [[first], headersOf(sign(first).slice(0, -22)), false],
    "a signature with more behind it": [[first], headersOf(sign(first).replace("=", "AA")), false],
    "a text as the signature": [[first], headersOf("signed"), false],
    "a text as the time": [[first], headersOf(sign(first, { timestamp: "now" }), "msg_1", "now"), false],
    "a time in milliseconds": [[first], headersOf(sign(first, { timestamp: now * 1000 }), "msg_1", now * 1000), false],
    "a time below zero": [[first], headersOf(sign(first, { timestamp: -now }), "msg_1", -now), false],
    "an empty time": [[first], headersOf(sign(first, { timestamp: "" }), "msg_1", ""), false],
    "an empty id": [[first], headersOf(sign(first, { id: "" }), ""), false],
    "no signature": [[first], { "webhook-id": "msg_1", "webhook-timestamp": String(now) }, false],
    "no time": [[first], { "webhook-id": "msg_1", "webhook-signature": sign(first) }, false],
    "no id": [[first], { "webhook-timestamp": String(now), "webhook-signature": sign(first) }, false],
    "no headers": [[first], {}, false],
};

describe("The verification of webhooks", () => {
    test("accepts what the other implementation has signed", () => {
        const texts = [body, "{}", '{"text":"\\u0000"}', `"${"x".repeat(100_000)}"`];
        const signed = texts.flatMap((text) => [first, second].map((key) => ({ secret: key, id: "msg_1", timestamp: now - 60, body: text })));
        const signatures = others(signed);
        for (const [index, { secret: key, body: text, timestamp }] of signed.entries()) {
            assert.equal(refusal(key, headersOf(signatures[index], "msg_1", timestamp), text), null);
            assert.equal(refusal(other, headersOf(signatures[index], "msg_1", timestamp), text), "invalid_signature");
            assert.equal(signatures[index], sign(key, { timestamp, text }));
        }
    });

    test("agrees with the other implementation on deliveries that are sound, old, forged and malformed", () => {
        const cases = Object.values(deliveries).map(([secrets, headers]) => ({ secrets, headers, body }));
        const verdicts = others(cases);
        for (const [index, [name, [secrets, headers, isVerified]]] of Object.entries(deliveries).entries()) {
            assert.equal(verdicts[index], isVerified, name);
            assert.equal(refusal(secrets, headers), isVerified ? null : "invalid_signature", name);
        }
    });

    test("takes a body as bytes, and verifies before it reads", () => {
        const bytes = new Uint8Array(Buffer.from(body));
        assert.deepEqual(verifyWebhook(first, headersOf(sign(first)), bytes), JSON.parse(body));
        assert.throws(() => verifyWebhook(first, headersOf(sign(first)), "no JSON"), { code: "invalid_signature", status: 401 });
        assert.throws(() => verifyWebhook(first, headersOf(sign(first, { text: "no JSON" })), "no JSON"), SyntaxError);
    });

    test("refuses a secret that is none, with which anybody could sign", () => {
        for (const none of ["", "whsec_", "whsec_?", "a secret", undefined]) {
            assert.throws(() => verifyWebhook(none, headersOf(sign("")), body), TypeError);
            assert.throws(() => verifyWebhook([first, none], headersOf(sign("")), body), TypeError);
        }
    });
});

/** The machine under test: timeline.js in this process, or any driver (scripts/timeline swift) in its own process. */

import { spawn } from "node:child_process";

import { Timeline, apply, difference } from "../../Sources/Page/client/timeline-all.js";
import { answer, linesOf } from "./driver.js";

/** Starts a machine. `take(event)` answers as a driver does; `end()` stops it. */
export function startMachine(command) {
    return command === undefined ? inProcess() : driven(command);
}

function inProcess() {
    const timeline = new Timeline();
    let before = timeline.view;
    return {
        take(event) {
            const given = answer(timeline, event);
            const after = timeline.view;
            checkDifference(before, after);
            before = after;
            return given;
        },
        end() {},
    };
}

function driven(command) {
    const driver = spawn("bash", ["-c", `exec ${command}`], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = linesOf(driver.stdout);
    let before = { rows: [] };
    return {
        async take(event) {
            driver.stdin.write(JSON.stringify(event) + "\n");
            const { value, done } = await lines.next();
            if (done) throw new Error(`the driver has ended: ${command}`);
            const given = JSON.parse(value);
            if (given.view) {
                checkDifference(before, given.view);
                before = given.view;
            }
            return given;
        },
        end() {
            driver.stdin.end();
        },
    };
}

/** Throws unless keys are unique, and the difference of the views, applied to the earlier rows, gives the later ones. */
function checkDifference(before, after) {
    const keys = after.rows.map(({ key }) => key);

    if (new Set(keys).size !== keys.length) throw new Error(`two rows share a key: ${keys.join(" ")}`);
    const change = difference(before, after);
    const states = new Map(before.rows.map(({ key, seq, state }) => [key, seq === undefined && state !== undefined]));
    const settled = change.moved.find(({ key }) => !states.get(key));
    if (settled) throw new Error(`the row ${settled.key} moved, and was not in the outbox`);
    const applied = apply(before.rows, change);
    const fields = ({ key, seq, rev, state, mine, folded, code }) => JSON.stringify([key, seq, rev, state, mine, folded, code]);
    const isSame = (row, other) => row === other || fields(row) === fields(other);
    const different = applied.length !== after.rows.length
        || applied.some((row, index) => !isSame(row, after.rows[index]));
    if (different) {
        throw new Error(`the difference gives ${JSON.stringify(applied)} and not ${JSON.stringify(after.rows)}`);
    }
}

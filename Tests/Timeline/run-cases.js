/**
 * Runs the cases in Tests/Timeline/cases (README.md there describes their format) and prints a line beginning with ok
 * or not ok for each.
 *
 *     node run-cases.js                             timeline.js in this process
 *     node run-cases.js 'scripts/timeline swift'    another driver
 *     node run-cases.js COMMAND NAME                only the cases whose name contains NAME; COMMAND may be ''
 */

import { readFileSync, readdirSync } from "node:fs";
import { argv, exit, stdout } from "node:process";
import { isDeepStrictEqual } from "node:util";

import { startMachine } from "./machine.js";
import { difference } from "../../Sources/Page/client/timeline-difference.js";
import { expand, expandEffects, expandRows, listRows } from "./shorthand.js";

const directory = new URL("cases/", import.meta.url);
const command = argv[2] || undefined;
const wanted = argv[3] ?? "";
let failures = 0;

for (const file of readdirSync(directory).filter((name) => name.endsWith(".json")).sort()) {
    const { cases } = JSON.parse(readFileSync(new URL(file, directory), "utf8"));
    for (const { name, given = [], steps } of cases) {
        const title = `${file.replace(/\.json$/, "")}: ${name}`;
        if (!title.includes(wanted)) continue;
        const machine = startMachine(command);
        try {
            let last;
            for (const event of expand(given)) {
                last = await machine.take(event);
                if (last.error) throw new Error(`given ${JSON.stringify(event)}: ${last.error}`);
            }
            for (const [index, step] of steps.entries()) {
                last = await take(machine, step, index + 1, last);
            }
            stdout.write(`ok - ${title}\n`);
        } catch (error) {
            failures++;
            stdout.write(`not ok - ${title}\n${error.message.replace(/^/gm, "    ")}\n`);
        } finally {
            machine.end();
        }
    }
}
exit(failures > 0 ? 1 : 0);

/** Compares what members and marks tell of the rows: `KEY COUNT`, with the tick of an own message and the readers. */
async function compareReadership(machine, step, number) {
    const { readership: told } = await machine.take({ readership: step.readership });
    const is = told.map(({ key, unread, tick, readers }) =>
        [key, unread, ...(tick ? [tick] : []), ...(readers.length > 0 ? [`by ${readers.join(",")}`] : [])].join(" "));
    if (isDeepStrictEqual(is, step.rows)) return;
    const both = `should be ${JSON.stringify(step.rows)}\n  but is    ${JSON.stringify(is)}`;
    throw new Error(`step ${number}, ${JSON.stringify(step.readership)}\n  ${both}`);
}

/** Passes a change to the layout of a list, and compares the fields of its state that the step has. */
async function compareLayout(machine, { layout, is: should }, number) {
    const { rows, ...change } = layout;
    if (rows) {
        const later = listRows(rows);
        change.difference = difference({ rows: machine.rows ?? [] }, { rows: later });
        machine.rows = later;
    }
    const { layout: state } = await machine.take({ layout: change });
    for (const [field, value] of Object.entries(should ?? {})) {
        if (isDeepStrictEqual(state[field], value)) continue;
        const both = `should be ${JSON.stringify(value)}\n  but is    ${JSON.stringify(state[field])}`;
        throw new Error(`step ${number}, ${JSON.stringify(layout)}: ${field}\n  ${both}`);
    }
}

/** Passes a step's events to the machine, and compares the answer to the last of them. */
async function take(machine, step, number, before) {
    if (step.readership) {
        await compareReadership(machine, step, number);
        return before;
    }
    if (step.layout) {
        await compareLayout(machine, step, number);
        return before;
    }
    const events = step.raw === undefined ? expand(step.events ?? [step.event]) : [step.raw];
    let answer;
    const effects = [];
    for (const event of events) {
        answer = await machine.take(event);
        if (answer.error !== undefined && step.error !== true) throw new Error(`step ${number}: ${answer.error}`);
        effects.push(...answer.effects ?? []);
    }
    const expect = (what, is, should) => {
        if (isDeepStrictEqual(is, should)) return;
        const event = JSON.stringify(step.raw ?? step.event ?? step.events);
        const both = `should be ${JSON.stringify(should)}\n  but is    ${JSON.stringify(is)}`;
        throw new Error(`step ${number}, ${event}: ${what}\n  ${both}`);
    };
    if (step.error) {
        expect("error", typeof answer.error, "string");
        return before;
    }
    if (step.effects !== undefined) expect("effects", expandEffects(effects, step.effects), step.effects);
    for (const [field, should] of Object.entries(step.view ?? {})) {
        if (field === "rows") expect("rows", expandRows(answer.view.rows, should), should);
        else expect(field, answer.view[field], should);
    }
    if (step.same) expect("view", answer.view, before?.view);
    return answer;
}

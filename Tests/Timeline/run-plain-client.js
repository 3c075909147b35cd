/**
 * Plays the rules of docs/clients.md: for each, a client that follows all of them shows the right messages, and one that follows all
 * others does not. Then a client that follows them meets random requests, frames, losses and other histories.
 *
 *     node run-plain-client.js
 *     node run-plain-client.js --seed 7 --runs 1    only the random run of that seed
 *
 * Prints a line beginning with ok or not ok for each rule, and one for the random runs.
 */

import { readFileSync } from "node:fs";
import { argv, exit, stdout } from "node:process";
import { parseArgs } from "node:util";

import { generator } from "./generator.js";
import { must } from "./must.js";
import { draft, others, rules } from "./plain-client-rules.js";
import { Trial } from "./plain-client-trial.js";

const { values: options } = parseArgs({ args: argv.slice(2), options: { seed: { type: "string" }, runs: { type: "string", default: "2000" } } });
const text = readFileSync(new URL("../../docs/clients.md", import.meta.url), "utf8").replace(/\s+/g, " ");

/** Everything at random, then a good connection: what is shown must be the server's room. */
function playRandom(seed) {
    const random = generator(seed);
    const pick = (list) => list[Math.floor(random() * list.length)];
    const trial = new Trial();
    const { client, server } = trial;
    const pages = [];
    const posts = [];
    let sends = 0;
    trial.openLive(pick([0, 3, 30, 60]), pick([{}, { around: "unread" }, { around: 10 }]));
    const actions = [
        () => trial.grow(pick([1, 1, 3, 8])),
        () => server.head > 0 && server.edit(1 + Math.floor(random() * server.head)),
        () => server.head > 0 && server.delete(1 + Math.floor(random() * server.head)),
        () => client.load(pick(["before", "after"])),
        () => client.requests.length > 0 && pages.push(trial.read()),
        () => pages.length > 0 && trial.arrive(pages.splice(Math.floor(random() * pages.length), 1)[0]),
        () => trial.deliver(pick([1, 2, 10])),
        () => trial.replay(pick([1, 5])),
        () => random() < 0.3 && (trial.cut(), trial.connect()),
        () => {
            if (random() < 0.8 || client.epoch === null) return;
            client.open(pick([{}, { around: 10 }]));
            trial.finish();
            trial.cut();
            trial.connect();
        },
        () => random() < 0.05 && client.epoch !== null && (trial.cut(), server.restoreBackup(3), trial.connect()),
        () => client.send(draft(`a${++sends}`)),
        () => client.posts.length > 0 && posts.push([client.posts.shift(), pick([0, 200, 200, 503])]),
        () => {
            if (posts.length === 0) return;
            const [post, status] = posts.shift();
            const { message } = status === 503 ? {} : server.send("alice", post.client_message_id);
            client.takeAnswer(post, status, message);
        },
    ];
    for (let step = 0; step < 150; step++) {
        pick(actions)();
        must(client.messages.every(({ seq }, index) => seq === client.first + index), "a gap", client.messages.map(({ seq }) => seq));
    }
    for (const page of pages) trial.arrive(page);
    for (const [post, status] of posts) client.takeAnswer(post, status === 200 ? 0 : status);
    // A page that came after the client was opened anew belongs to no subscription yet.
    for (let turn = 0; turn < 3; turn++) {
        trial.finish();
        trial.cut();
        trial.connect();
        trial.replay();
        trial.deliver();
    }
    trial.finish();
    trial.deliver();
    trial.loadAll("before");
    trial.loadAll("after");
    trial.deliver();
    must(client.unsent.length === 0, "a send is not stored", client.unsent);
    if (server.head > 0) trial.check(1, server.head);
}

let failures = 0;

function report(name, play) {
    try {
        play();
        stdout.write(`ok - ${name}\n`);
    } catch (error) {
        failures++;
        stdout.write(`not ok - ${name}\n${error.stack.replace(/^/gm, "    ")}\n`);
    }
}

function says(sentence) {
    must(text.includes(sentence), "docs/clients.md does not say:", sentence);
}

function fails(play, trial) {
    try {
        play(trial);
        return false;
    } catch {
        return true;
    }
}

if (options.seed === undefined) {
    for (const [rule, sentence, play] of rules) {
        report(`a client needs the rule for ${rule}`, () => {
            says(sentence);
            play(new Trial());
            must(fails(play, new Trial(rule)), "the play succeeds without the rule");
        });
    }
    for (const [sentence, play] of others) {
        report(`a client follows: ${sentence}`, () => {
            says(sentence);
            play(new Trial());
        });
    }
}
const firstSeed = Number(options.seed ?? 1);
report(`a client that follows the rules shows the server's room, in ${options.runs} random runs from --seed ${firstSeed}`, () => {
    for (let seed = firstSeed; seed < firstSeed + Number(options.runs); seed++) {
        try {
            playRandom(seed);
        } catch (error) {
            error.stack = `--seed ${seed} --runs 1: ${error.stack}`;
            throw error;
        }
    }
});
exit(failures ? 1 : 0);

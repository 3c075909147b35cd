// A bot that answers mentions. It has no store: it resumes from its read mark, and its answers have ids that are made of the messages
// that they answer, so that each is stored once, whenever the bot ends.
//
//     npm install https://chat.example.com/backscroll-VERSION.tgz
//     node bot.mjs https://chat.example.com bot lobby
import { Client } from "backscroll";

const [url, name, id] = process.argv.slice(2);
const client = new Client({ url, user: name });
const room = await client.room(id).open({ at: "read" });

/** The place up to which every message was answered. */
let done = room.view.read ?? 0;
let isWorking = false;
let hasNews = true;

async function answer({ seq, sender, text, deleted }) {
    if (sender === name || deleted || !text?.includes(`@${name}`)) return;
    await room.send({ client_message_id: `answer-${seq}`, reply_to: seq, text: `${sender}, you said: ${text}` });
}

/** Answers the messages of the window in order, and loads on until the end of the room. */
async function work() {
    hasNews = true;
    if (isWorking) return;
    isWorking = true;
    while (hasNews) {
        hasNews = false;
        for (const { seq, message } of room.view.rows) {
            if (seq === undefined || seq <= done) continue;
            await answer(message);
            done = seq;
        }
        if (room.view.after !== "end") {
            await room.loadAfter();
            hasNews = true;
        }
        // Moves the read mark, and lets the room drop old messages.
        room.setViewport({ atBottom: room.view.after === "end", lastVisible: done > 0 ? done : null });
    }
    isWorking = false;
}

room.subscribe(() => {
    if (room.view.ending) throw room.view.ending;
    work().catch((error) => {
        isWorking = false;
        console.error(`${error.code}: ${error.message}`);
    });
});
console.log(`${name} listens in ${id}`);
await work();

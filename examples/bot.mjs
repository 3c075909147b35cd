// A bot that answers mentions. It has no store: its place is its read mark, which the server keeps. It reads the pages after that place,
// and not the rows of the screen, which go to the end with each send. Its answers have ids that are made of the messages that they
// answer, so that each is stored once, whenever the bot ends.
//
//     npm install https://chat.example.com/backscroll-VERSION.tgz
//     node bot.mjs https://chat.example.com bot lobby
import { Client } from "backscroll";

const [url, name, id] = process.argv.slice(2);
const path = `/v1/rooms/${encodeURIComponent(id)}`;
const client = new Client({ url, user: name });
const room = client.room(id);

async function answer({ seq, sender, text, mentions, deleted }) {
    const isMention = mentions?.includes(name) || text?.includes(`@${name}`);
    if (sender === name || deleted || !isMention) return;
    const draft = { client_message_id: `answer-${seq}`, reply_to: seq, text: `${sender}, you said: ${text}` };
    try {
        await room.send(draft); // repeated until it is stored
    } catch (error) {
        console.error(`${seq}: ${error.code}`); // the server refuses it
    }
}

/** Answers the messages after the read mark in order, and moves it. A page has no gaps. */
async function work() {
    const { read } = await client.request("GET", path);
    const { messages, has_after: hasMore } = await client.request("GET", `${path}/messages`, { query: { after: read, limit: 200 } });
    for (const message of messages) await answer(message);
    if (room.view.ending) throw room.view.ending;
    if (messages.length) await room.markRead(messages.at(-1).seq);
    return hasMore;
}

let isWorking = false;
let hasNews = false;

/** Works until nothing is new. The view changes with each message, and after each absence. */
async function wake() {
    hasNews = true;
    if (isWorking) return;
    isWorking = true;
    while (hasNews) {
        hasNews = false;
        try {
            hasNews = (await work()) || hasNews;
        } catch (error) {
            if (!error.isTemporary) throw error;
            await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 1)));
            hasNews = true;
        }
    }
    isWorking = false;
}

room.subscribe(wake);
await room.open({ at: "last" }).catch(wake);
console.log(`${name} listens in ${id}`);

// A chat with a list of rooms, as one page:
//
//     npm install react react-dom esbuild https://chat.example.com/backscroll-VERSION.tgz
//     npx esbuild chat.jsx --bundle --format=esm --jsx=automatic --outfile=chat.js
//
// Open it as index.html?server=https://chat.example.com&user=alice. The server needs --allow-origin for this page's origin.
import { Client } from "backscroll";
import { ClientProvider, useConnection, useRoom, useRooms } from "backscroll/react";
import { IndexedDBStore } from "backscroll/store-indexeddb";
import { StrictMode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

const query = new URLSearchParams(location.search);
const client = new Client({ url: query.get("server"), user: query.get("user"), store: new IndexedDBStore() });
document.addEventListener("visibilitychange", () => (document.hidden ? client.enterBackground() : client.enterForeground()));
window.addEventListener("online", () => client.networkPathChanged());

/** The distance from an edge, in pixels, at which the next page is loaded. */
const NEAR = 1500;

function RoomList({ current, onChoose }) {
    const { view } = useRooms();
    const connection = useConnection();
    return (
        <nav>
            {connection.state === "open" ? null : <p>Connecting…</p>}
            {view.rooms.map(({ room, title, unread, last_message: last }) => (
                <button key={room} data-room={room} aria-current={room === current || undefined} onClick={() => onChoose(room)}>
                    <b>{title ?? room}</b> {unread > 0 ? `(${unread})` : ""}
                    <br />
                    <small>{last?.text}</small>
                </button>
            ))}
        </nav>
    );
}

function Row({ room, row }) {
    const { key, state, message, draft } = row;
    if (!state) return <li className="line" data-key={key}>{key === "unread" ? "New messages" : key.slice(4)}</li>;
    const id = draft?.client_message_id;
    return (
        <li data-key={key} data-seq={row.seq} data-state={state}>
            <b>{row.mine ? "You" : message.sender}</b> <span>{message?.deleted ? "deleted" : (message ?? draft).text}</span>
            {message?.reactions?.map((reaction) => <small key={reaction.key}> {reaction.key} {reaction.count}</small>)}
            {state === "stored" ? <button onClick={() => room.toggleReaction(row.seq, "👍")}>👍</button> : null}
            {state === "failed" ? <button onClick={() => room.retry(id)}>Try again</button> : null}
            {state === "failed" ? <button onClick={() => room.discard(id)}>Discard</button> : null}
        </li>
    );
}

function Messages({ room, view }) {
    const list = useRef(null);
    /** The first row that can be seen and its distance from the top: it stays there when rows above it change. */
    const anchor = useRef(null);
    const scrolled = useRef(null);

    function look() {
        const node = list.current;
        const rows = [...node.children];
        const top = node.getBoundingClientRect().top;
        const first = rows.find((row) => row.getBoundingClientRect().bottom > top);
        anchor.current = first ? { key: first.dataset.key, offset: first.getBoundingClientRect().top } : null;
        const last = rows.filter((row) => row.dataset.seq && row.getBoundingClientRect().bottom <= top + node.clientHeight + 1).at(-1);
        const left = node.scrollHeight - node.scrollTop - node.clientHeight;
        room.setViewport({ atBottom: left < 4, lastVisible: last ? Number(last.dataset.seq) : null });
        if (view.before === "idle" && node.scrollTop < NEAR) room.loadBefore();
        if (view.after === "idle" && left < NEAR) room.loadAfter();
    }

    useLayoutEffect(() => {
        const node = list.current;
        const find = (key) => [...node.children].find((row) => row.dataset.key === key);
        if (view.scroll !== scrolled.current) {
            scrolled.current = view.scroll;
            if (view.scroll.to === "bottom") node.scrollTop = node.scrollHeight;
            else find(view.scroll.to)?.scrollIntoView({ block: "center" });
        } else if (anchor.current) {
            const row = find(anchor.current.key);
            if (row) node.scrollTop += row.getBoundingClientRect().top - anchor.current.offset;
        }
        if (view.phase !== "initial") look();
    }, [view]);

    return (
        <ol ref={list} onScroll={look} data-connection={view.connection}>
            {view.rows.map((row) => <Row key={row.key} room={room} row={row} />)}
        </ol>
    );
}

function Chat({ id }) {
    const { room, view, error } = useRoom(id, { at: "read" });
    useEffect(() => void (document.title = `${view.unread > 0 ? `(${view.unread}) ` : ""}${id}`), [id, view.unread]);
    const send = (event) => {
        event.preventDefault();
        const text = new FormData(event.target).get("text").trim();
        if (text) room.send(text);
        event.target.reset();
    };
    if (view.ending) return <main><p>{view.ending.message}</p></main>;
    return (
        <main>
            {error && view.phase === "initial" ? <p>{error.message}</p> : <Messages room={room} view={view} />}
            <form onSubmit={send}>
                <small>{view.typing.length > 0 ? `${view.typing.join(", ")} …` : ""}</small>
                <input name="text" autoComplete="off" onInput={() => room.typing()} disabled={view.ban !== null} placeholder={view.ban ?? "Message"} />
                <button>Send</button>
            </form>
        </main>
    );
}

function App() {
    const [id, setID] = useState(query.get("room") ?? "lobby");
    return <><RoomList current={id} onChoose={setID} /><Chat key={id} id={id} /></>;
}

createRoot(document.getElementById("root")).render(<StrictMode><ClientProvider client={client}><App /></ClientProvider></StrictMode>);

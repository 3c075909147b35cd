/**
 * Hooks for React 18 and later (docs/javascript.md).
 *
 * @module react
 */

import { createContext, createElement, useCallback, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { soon } from "./defaults.js";
import { ClientError } from "./errors.js";

/**
 * @typedef {import("./client.js").Client} Client
 * @typedef {import("./room.js").Room} Room
 * @typedef {import("./rooms.js").Rooms} Rooms
 * @typedef {import("./types.js").RoomView} RoomView
 * @typedef {import("./types.js").RoomsView} RoomsView
 * @typedef {import("./types.js").ConnectionView} ConnectionView
 */

/** @type {import("react").Context<Client | null>} */
const ClientContext = createContext(/** @type {Client | null} */ (null));

/**
 * Gives a client to the components within.
 *
 * @param {{client: Client, children?: any}} properties
 */
export function ClientProvider({ client, children }) {
    return createElement(ClientContext.Provider, { value: client }, children);
}

/** Returns the client of the nearest `ClientProvider`. */
export function useClient() {
    const client = useContext(ClientContext);
    if (client === null) throw new Error("There is no ClientProvider above this component.");
    return client;
}

/**
 * The number of components that show something.
 *
 * @type {WeakMap<object, number>}
 */
const uses = new WeakMap();

/**
 * Keeps something open while a component shows it. The next one may take it over in the same turn, as it does in StrictMode.
 *
 * @param {{close(): void}} shown
 * @param {() => Promise<unknown>} open
 * @param {(error: ClientError | null) => void} setError
 */
function keepOpen(shown, open, setError) {
    const count = uses.get(shown) ?? 0;
    uses.set(shown, count + 1);
    let isShown = true;
    // The first component decides on the place.
    if (count === 0) open().then(
        () => isShown && setError(null),
        (/** @type {unknown} */ error) => isShown && error instanceof ClientError && error.code !== "closed" && setError(error));
    return () => {
        isShown = false;
        uses.set(shown, (uses.get(shown) ?? 1) - 1);
        soon(() => {
            if (uses.get(shown) === 0) shown.close();
        });
    };
}

/**
 * @template View
 * @param {{view: View, subscribe(listener: () => void): () => void}} source
 * @returns {View}
 */
function useView(source) {
    const subscribe = useCallback((/** @type {() => void} */ listener) => source.subscribe(listener), [source]);
    const view = () => source.view;
    return useSyncExternalStore(subscribe, view, view);
}

/**
 * Opens a room while the component is shown.
 *
 * @param {string} id
 * @param {{at?: import("./types.js").Place}} [options] The place at which it opens.
 * @returns {{room: Room, view: RoomView, error: ClientError | null}} `error` is why it could not be opened; the room goes on trying
 *   after a temporary one.
 */
export function useRoom(id, options = {}) {
    const client = useClient();
    const { at = "read" } = options;
    const [room, setRoom] = useState(() => client.roomOrEnded(id));
    const [error, setError] = useState(room.view.ending);
    useEffect(() => {
        const current = client.roomOrEnded(id);
        setRoom(current);
        setError(current.view.ending);
        return keepOpen(current, () => current.open({ at }), setError);
    }, [client, id]);
    return { room, view: useView(room), error };
}

/**
 * Opens the list of the user's rooms while the component is shown.
 *
 * @returns {{rooms: Rooms, view: RoomsView, error: ClientError | null}}
 */
export function useRooms() {
    const client = useClient();
    const [rooms, setRooms] = useState(() => client.rooms);
    const [error, setError] = useState(/** @type {ClientError | null} */ (null));
    useEffect(() => {
        const current = client.rooms;
        setRooms(current);
        return keepOpen(current, () => current.open(), setError);
    }, [client]);
    return { rooms, view: useView(rooms), error };
}

/**
 * Returns the state of the connection.
 *
 * @returns {ConnectionView}
 */
export function useConnection() {
    return useView(useClient().connection);
}

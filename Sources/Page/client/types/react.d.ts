/**
 * Gives a client to the components within.
 *
 * @param {{client: Client, children?: any}} properties
 */
export function ClientProvider({ client, children }: {
    client: Client;
    children?: any;
}): any;
/** Returns the client of the nearest `ClientProvider`. */
export function useClient(): import("./client.js").Client;
/**
 * Opens a room while the component is shown.
 *
 * @param {string} id
 * @param {{at?: import("./types.js").Place}} [options] The place at which it opens.
 * @returns {{room: Room, view: RoomView, error: ClientError | null}} `error` is why it could not be opened; the room goes on trying
 *   after a temporary one.
 */
export function useRoom(id: string, options?: {
    at?: import("./timeline-events.js").Place | undefined;
} | undefined): {
    room: Room;
    view: RoomView;
    error: ClientError | null;
};
/**
 * Opens the list of the user's rooms while the component is shown.
 *
 * @returns {{rooms: Rooms, view: RoomsView, error: ClientError | null}}
 */
export function useRooms(): {
    rooms: Rooms;
    view: RoomsView;
    error: ClientError | null;
};
/**
 * Returns the state of the connection.
 *
 * @returns {ConnectionView}
 */
export function useConnection(): ConnectionView;
export type Client = import("./client.js").Client;
export type Room = import("./room.js").Room;
export type Rooms = import("./rooms.js").Rooms;
export type RoomView = import("./types.js").RoomView;
export type RoomsView = import("./types.js").RoomsView;
export type ConnectionView = import("./types.js").ConnectionView;
import { ClientError } from "./errors.js";

/**
 * Stops a timer. Null is none.
 *
 * @param {Timer | null} timer
 */
export function stop(timer: Timer | null): void;
/** @type {import("./types.js").Fetch} */
export const fetch: import("./types.js").Fetch;
export function webSocket(): import("./types.js").WebSocketConstructor | undefined;
export function after(milliseconds: number, work: () => void): Timer;
export function elapsed(): number;
export function newAbort(): {
    signal: any;
    abort(): void;
};
export function sleep(milliseconds: number): Promise<void>;
export function soon(work: () => void): undefined;
/**
 * A timer that has been started.
 */
export type Timer = {
    readonly timer: unique symbol;
};

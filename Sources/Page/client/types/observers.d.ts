/**
 * Waits for a state.
 *
 * @param {Set<() => void>} waiting The functions that are called after each change.
 * @param {() => import("./errors.js").ClientError | null | undefined} outcome Returns null once the state is reached, the error to
 *   throw instead, or undefined to wait on.
 * @returns {Promise<void>}
 */
export function until(waiting: Set<() => void>, outcome: () => import("./errors.js").ClientError | null | undefined): Promise<void>;
export class Observers {
    /**
     * Calls a function after each change, until the returned function is called. Changes that come together are told once.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    add(listener: () => void): import("./types.js").Unsubscribe;
    /** Tells the listeners once the present work is done. */
    tell(): void;
    #private;
}
export function toldFailure(failure: import("./errors.js").ClientError | null, count: number): import("./errors.js").ClientError | undefined;

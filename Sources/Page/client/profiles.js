/**
 * The names and pictures of users. Each is loaded when it is first shown, together with others, and kept for a minute
 * (docs/javascript.md).
 *
 * @module profiles
 */

import { elapsed, soon } from "./defaults.js";
import { Observers } from "./observers.js";
import { has, listOf } from "./requests.js";

/** @typedef {import("./types.js").Profile} Profile */

/** Time after which a profile that is shown is loaded again, in milliseconds. The server gives answers the same time. */
const FRESH_MILLISECONDS = 60000;
/** Maximum number of users, and of bytes of the encoded ids, in one request. */
const PART = 100;
const PART_BYTES = 4000;
/** Maximum number of users to keep. Those who were loaded first are dropped first. */
const MAXIMUM_KEPT = 5000;

export class Profiles {
    #client;
    #observers = new Observers();
    /** @type {Map<string, {profile: Profile | undefined, at: number}>} By user, what the server has answered, and when. */
    #kept = new Map();
    /** @type {Set<string>} The users to load next. */
    #wanted = new Set();
    /** @type {Set<string>} The users whose request had no answer. */
    #missed = new Set();
    #isLoading = false;

    /**
     * @param {import("./client.js").Client} client
     * @param {Iterable<Profile>} [known] Profiles that were kept before. They are shown until the server has answered.
     */
    constructor(client, known = []) {
        this.#client = client;
        for (const profile of known) this.#kept.set(profile.user, { profile, at: -Infinity });
        client.connection.subscribe(() => {
            if (client.connection.view.state !== "open" || !this.#missed.size) return;
            for (const user of this.#missed) this.#want(user);
            this.#missed.clear();
        });
    }

    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener) {
        return this.#observers.add(listener);
    }

    /** The profiles that are known, for the next program's `known`. */
    get all() {
        return [...this.#kept.values()].flatMap(({ profile }) => profile ?? []);
    }

    /**
     * Returns what is known of a user; undefined for a user without a profile. What is not known, or not fresh, is loaded: the
     * listeners are told if it differs.
     *
     * @param {string} user
     * @returns {Profile | undefined}
     */
    get(user) {
        const kept = this.#kept.get(user);
        if (!kept || elapsed() - kept.at >= FRESH_MILLISECONDS) this.#want(user);
        return kept?.profile;
    }

    /**
     * Returns what is known of a user, and loads nothing.
     *
     * @param {string} user
     * @returns {Profile | undefined}
     */
    known(user) {
        return this.#kept.get(user)?.profile;
    }

    /**
     * Loads the profiles of users.
     *
     * @param {Iterable<string>} users
     * @returns {Promise<Profile[]>} Without users who have none.
     */
    async load(users) {
        const ids = [...users];
        for (let rest = [...new Set(ids)].filter(isAskable); rest.length; ) rest = await this.#loadPart(rest);
        return ids.flatMap((user) => this.known(user) ?? []);
    }

    /**
     * Changes the user's own profile. Absent fields stay; an empty one is removed.
     *
     * @param {import("./types.js").ProfileSettings} settings
     * @returns {Promise<Profile>}
     */
    async set(settings) {
        const user = await this.#client.userID();
        const profile = await this.#client.request("PUT", `/v1/profiles/${encodeURIComponent(user)}`, { body: settings, isValid: has("user") });
        this.note([{ user, profile }]);
        return profile;
    }

    /**
     * Takes the profiles of members, as `members(id, { profiles: true })` returns them.
     *
     * @param {Iterable<{user: string, profile?: Profile}>} members
     */
    note(members) {
        let isChange = false;
        for (const { user, profile } of members) {
            isChange ||= JSON.stringify(this.known(user)) !== JSON.stringify(profile);
            this.#kept.delete(user);
            this.#kept.set(user, { profile, at: elapsed() });
        }
        for (const user of this.#kept.keys()) {
            if (this.#kept.size <= MAXIMUM_KEPT) break;
            this.#kept.delete(user);
        }
        if (isChange) this.#observers.tell();
    }

    /** @param {string} user */
    #want(user) {
        if (!isAskable(user)) return;
        this.#wanted.add(user);
        if (this.#isLoading) return;
        this.#isLoading = true;
        soon(() => this.#loadWanted());
    }

    async #loadWanted() {
        while (this.#wanted.size) {
            const users = [...this.#wanted];
            this.#wanted.clear();
            try {
                await this.load(users);
            } catch {
                // They are asked for with the next connection, or in a minute.
                for (const user of users) {
                    const { profile } = this.#kept.get(user) ?? {};
                    this.#kept.set(user, { profile, at: elapsed() });
                    this.#missed.add(user);
                }
            }
        }
        this.#isLoading = false;
    }

    /**
     * Loads the first profiles, and returns the users who remain.
     *
     * @param {string[]} users
     */
    async #loadPart(users) {
        let count = 0;
        for (let bytes = 0; count < Math.min(users.length, PART); count++) {
            bytes += encodeURIComponent(users[count]).length + 3;
            if (count && bytes > PART_BYTES) break;
        }
        const part = users.slice(0, count);
        /** @type {{profiles: Profile[]}} */
        const { profiles } = await this.#client.request("GET", "/v1/profiles", listOf("profiles", { users: part.join(",") }));
        const found = new Map(profiles.map((profile) => [profile.user, profile]));
        this.note(part.map((user) => ({ user, profile: found.get(user) })));
        return users.slice(count);
    }
}

/**
 * True for a user that a request can ask for: an id without a comma.
 *
 * @param {string} user
 */
const isAskable = (user) => user !== "" && !user.includes(",");

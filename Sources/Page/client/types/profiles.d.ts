export class Profiles {
    /**
     * @param {import("./client.js").Client} client
     * @param {Iterable<Profile>} [known] Profiles that were kept before. They are shown until the server has answered.
     */
    constructor(client: import("./client.js").Client, known?: Iterable<import("./types.js").Profile> | undefined);
    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener: () => void): import("./types.js").Unsubscribe;
    /** The profiles that are known, for the next program's `known`. */
    get all(): import("./types.js").Profile[];
    /**
     * Returns what is known of a user; undefined for a user without a profile. What is not known, or not fresh, is loaded: the
     * listeners are told if it differs.
     *
     * @param {string} user
     * @returns {Profile | undefined}
     */
    get(user: string): Profile | undefined;
    /**
     * Returns what is known of a user, and loads nothing.
     *
     * @param {string} user
     * @returns {Profile | undefined}
     */
    known(user: string): Profile | undefined;
    /**
     * Loads the profiles of users.
     *
     * @param {Iterable<string>} users
     * @returns {Promise<Profile[]>} Without users who have none.
     */
    load(users: Iterable<string>): Promise<Profile[]>;
    /**
     * Changes the user's own profile. Absent fields stay; an empty one is removed.
     *
     * @param {import("./types.js").ProfileSettings} settings
     * @returns {Promise<Profile>}
     */
    set(settings: import("./types.js").ProfileSettings): Promise<Profile>;
    /**
     * Takes the profiles of members, as `members(id, { profiles: true })` returns them.
     *
     * @param {Iterable<{user: string, profile?: Profile}>} members
     */
    note(members: Iterable<{
        user: string;
        profile?: Profile;
    }>): void;
    #private;
}
export type Profile = import("./types.js").Profile;

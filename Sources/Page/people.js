/**
 * The names and pictures of users, as the page shows them. A user without a profile has the id, and letters in a color.
 *
 * @module people
 */

import { Profiles } from "./client/profiles.js";
import { kept } from "./session.js";
import { element, hue, initials, safeURL } from "./text.js";
import { texts } from "./texts.js";

/** What stands for an erased user. */
const DELETED_USER = "~deleted";
/** Maximum number of profiles that the browser keeps, so that names show at once. */
const MAXIMUM_STORED = 500;

/** Maximum number of members to list. */
const MAXIMUM_MEMBERS = 1000;

/** @type {Profiles | null} */
let profiles = null;
/** @type {Set<string>} The addresses of pictures that were shown. */
const loaded = new Set();
/** @type {Set<string>} The addresses of pictures that could not be loaded. */
const broken = new Set();
window.addEventListener("online", () => broken.clear());

/**
 * Shows the names that a client's user sees.
 *
 * @param {import("./client/index.js").Client} client
 * @param {string} me
 * @param {() => void} onChange Called when names or pictures have changed.
 */
export function follow(client, me, onChange) {
    const key = `backscroll.profiles.${me}`;
    const followed = (profiles = new Profiles(client, JSON.parse(kept.get(key) ?? "[]")));
    followed.subscribe(() => {
        if (followed !== profiles) return;
        kept.set(key, JSON.stringify(followed.all.slice(-MAXIMUM_STORED).map(({ user, name, avatar }) => ({ user, name, avatar }))));
        onChange();
    });
    return followed;
}

/**
 * Loads the members of a room, with their names and pictures.
 *
 * @param {import("./client/index.js").Client} client
 * @param {string} room
 */
export async function membersOf(client, room) {
    /** @type {import("./client/index.js").Member[]} */
    const members = [];
    for (let hasMore = true; hasMore && members.length < MAXIMUM_MEMBERS; ) {
        const answer = await client.rooms.members(room, { after: members.at(-1)?.user, profiles: true });
        members.push(...answer.members);
        hasMore = answer.hasMore;
    }
    profiles?.note(members);
    return members;
}

/**
 * The name of a user, which is loaded if it is not known.
 *
 * @param {string} user
 */
export function nameOf(user) {
    if (user === DELETED_USER) return texts.deletedUser;
    return profiles?.get(user)?.name || user;
}

/**
 * The name of a user as far as it is known: for what few readers look at.
 *
 * @param {string} user
 */
export const knownName = (user) => profiles?.known(user)?.name || user;

/**
 * What names a user in a text: the name, or the id where the name is not one of a line.
 *
 * @param {string} user
 */
export function mentionOf(user) {
    const name = nameOf(user);
    return /[@\n\r]/.test(name) ? user : name;
}

/** @param {string} user */
export const pictureAddress = (user) => profiles?.get(user)?.avatar;

/**
 * Creates the picture of a user.
 *
 * @param {string} user
 */
export const avatar = (user) => portrait(user, nameOf(user), pictureAddress(user));

/**
 * Creates a picture. Letters of the name are in its place until it is loaded, and if it cannot be.
 *
 * @param {string} id Decides the color, so that it stays when the name changes.
 * @param {string} name
 * @param {string} [address]
 */
export function portrait(id, name, address) {
    const url = address === undefined ? undefined : safeURL(address)?.href;
    const image = url === undefined || broken.has(url) ? null
        : element("img", { alt: "", loading: "lazy", decoding: "async", referrerpolicy: "no-referrer", src: url });
    if (image) {
        image.onload = () => {
            loaded.add(image.src);
            image.previousSibling?.remove();
        };
        image.onerror = () => {
            broken.add(image.src);
            image.before(...(image.previousSibling ? [] : [initials(name)]));
            image.remove();
        };
    }
    const node = element("span", { class: "avatar", "aria-hidden": "true" }, image && loaded.has(image.src) ? null : initials(name), image);
    node.style.setProperty("--hue", String(hue(id)));
    return node;
}

/**
 * A service worker that opens the page without a connection to the server, and shows the stored messages.
 *
 * It asks the server first and stores the answers, so a new version of the server brings its own page. It does not handle
 * requests to the API.
 *
 * @module offline
 */

const CACHE = "backscroll-page";

/** The files of the page. One document serves all its URLs, because it reads their parameters in the browser. */
const FILES = [
    "/", "/page/api.js", "/page/app.js", "/page/composer.js", "/page/icon.svg", "/page/inbox.js", "/page/list.js", "/page/message.js",
    "/page/outbox.js", "/page/renew.js", "/page/room.js", "/page/screen.js", "/page/socket.js", "/page/store.js", "/page/style.css", "/page/text.js",
    "/page/thumbhash.js", "/page/timeline-difference.js", "/page/timeline-events.js", "/page/timeline-window.js", "/page/timeline.js",
];

async function respond(event, path) {
    try {
        const response = await fetch(event.request);
        if (response.ok) event.waitUntil(keep(path, response.clone()));
        return response;
    } catch (error) {
        const kept = await (await caches.open(CACHE)).match(path);
        if (kept) return kept;
        throw error;
    }
}

/** Stores an answer, unless it is stored already. */
async function keep(path, response) {
    const cache = await caches.open(CACHE);
    const kept = await cache.match(path);
    const tag = response.headers.get("ETag");
    if (!kept || !tag || kept.headers.get("ETag") !== tag) await cache.put(path, response);
}

addEventListener("install", (event) => {
    skipWaiting();
    event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
});

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
    const url = new URL(event.request.url);
    if (event.request.method !== "GET" || url.origin !== location.origin || !FILES.includes(url.pathname)) return;
    event.respondWith(respond(event, url.pathname));
});

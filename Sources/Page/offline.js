/**
 * A service worker that opens the page without a connection to the server, and shows the stored messages.
 *
 * It asks the server first and stores the answers, so a new version of the server brings its own page. It does not handle
 * requests to the API.
 *
 * @module offline
 */

/** Delay before an answer is kept, in milliseconds, so that this does not slow down the page that loads. */
const KEEP_MILLISECONDS = 2000;
/** Time after which a stored file is used instead of an answer, in milliseconds: the connection may be dead. */
const ANSWER_MILLISECONDS = 4000;
const CACHE = "backscroll-page";

/** The start of the paths of the page's files, which its document names. One document serves all its URLs. */
const FILES = "/page/";

/**
 * @param {FetchEvent} event
 * @param {string} path
 */
async function respond(event, path) {
    const abort = new AbortController();
    const load = (async () => (await event.preloadResponse) ?? fetch(event.request, { signal: abort.signal }))();
    try {
        const response = await Promise.race([load, late()]);
        if (response.ok) event.waitUntil(keep(path, response.clone()));
        return response;
    } catch {
        const kept = await (await caches.open(CACHE)).match(path);
        if (!kept) return load;
        load.catch(() => {});
        abort.abort();
        return kept;
    }
}

/** Fails after the time for an answer. */
const late = () => /** @type {Promise<never>} */ (new Promise((_, reject) => setTimeout(reject, ANSWER_MILLISECONDS)));

/** Stores the document and all files that it names. */
async function keepAll() {
    const response = await fetch("/");
    const names = (await response.clone().text()).matchAll(/"(\/page\/[^"]+)"/g);
    const cache = await caches.open(CACHE);
    await Promise.all([cache.put("/", response), cache.addAll(new Set([...names].map(([, name]) => name)))]);
}

/**
 * Stores an answer, unless it is stored already.
 *
 * @param {string} path
 * @param {Response} response
 */
async function keep(path, response) {
    await new Promise((resolve) => setTimeout(resolve, KEEP_MILLISECONDS));
    const cache = await caches.open(CACHE);
    const kept = await cache.match(path);
    const tag = response.headers.get("ETag");
    if (!kept || !tag || kept.headers.get("ETag") !== tag) await cache.put(path, response);
}

/** The global object of a service worker, which the compiler takes for a page's. */
const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));

worker.addEventListener("install", (event) => {
    worker.skipWaiting();
    event.waitUntil(keepAll());
});

// With the preload the browser asks for the document while it starts the worker.
worker.addEventListener("activate", (event) => {
    event.waitUntil(Promise.all([worker.clients.claim(), worker.registration.navigationPreload?.enable()]));
});

worker.addEventListener("fetch", (event) => {
    const url = new URL(event.request.url);
    if (event.request.method !== "GET" || url.origin !== location.origin || (url.pathname !== "/" && !url.pathname.startsWith(FILES))) return;
    event.respondWith(respond(event, url.pathname));
});

// A notification that a page has shown by this worker leads to its room.
worker.addEventListener("notificationclick", (event) => {
    const { notification } = event;
    notification.close();
    event.waitUntil((async () => {
        const [page] = await worker.clients.matchAll({ type: "window" });
        if (!page) return worker.clients.openWindow(`/?room=${encodeURIComponent(notification.data)}`);
        page.postMessage({ room: notification.data });
        return page.focus();
    })());
});

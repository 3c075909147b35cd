// What browsers have and Debian's TypeScript 4.8 does not know.

interface Array<T> {
    findLast(predicate: (value: T, index: number) => unknown): T | undefined;
}

interface ReadonlyArray<T> {
    findLast(predicate: (value: T, index: number) => unknown): T | undefined;
}

interface ExtendableEvent extends Event {
    waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends ExtendableEvent {
    readonly preloadResponse: Promise<Response | undefined>;
    readonly request: Request;
    respondWith(response: Promise<Response>): void;
}

interface ServiceWorkerScope {
    readonly clients: {
        claim(): Promise<void>;
        matchAll(options: { type: "window" }): Promise<{ focus(): Promise<unknown>; postMessage(data: object): void }[]>;
        openWindow(url: string): Promise<unknown>;
    };
    readonly registration: ServiceWorkerRegistration;
    addEventListener(type: "install" | "activate", listener: (event: ExtendableEvent) => void): void;
    addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
    addEventListener(type: "notificationclick", listener: (event: ExtendableEvent & { readonly notification: Notification }) => void): void;
    skipWaiting(): Promise<void>;
}

interface Navigator {
    setAppBadge?(count: number): Promise<void>;
    clearAppBadge?(): Promise<void>;
}

interface Document {
    caretPositionFromPoint?(x: number, y: number): { offsetNode: Node; offset: number } | null;
}

// What the JavaScript package uses of React and of Node, whose own types Debian does not have beside its compiler.
declare module "react" {
    interface Context<T> {
        Provider: unknown;
        value?: T;
    }
    function createContext<T>(value: T): Context<T>;
    function createElement(type: unknown, properties: object, ...children: unknown[]): any;
    function useCallback<T>(callback: T, dependencies: unknown[]): T;
    function useContext<T>(context: Context<T>): T;
    function useEffect(effect: () => void | (() => void), dependencies?: unknown[]): void;
    function useState<T>(initial: T | (() => T)): [T, (value: T) => void];
    function useSyncExternalStore<T>(subscribe: (listener: () => void) => () => void, view: () => T, serverView?: () => T): T;
}

declare module "node:crypto" {
    interface Hmac {
        update(data: string | Uint8Array): Hmac;
        digest(): Uint8Array;
        digest(encoding: "base64url"): string;
    }
    function createHmac(algorithm: string, key: string | Uint8Array): Hmac;
    function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean;
}

declare const Buffer: {
    from(data: string | Uint8Array, encoding?: "base64"): Uint8Array & { toString(encoding: "base64url" | "utf8"): string };
    byteLength(data: string | Uint8Array): number;
};

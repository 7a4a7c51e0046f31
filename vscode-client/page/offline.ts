/** The service worker: it keeps the page's own files, and answers with these first. */

declare const FILES: readonly string[];
declare const NAME: string;

interface Extendable extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface Fetching extends Extendable {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
const scope = globalThis as unknown as {
  addEventListener(type: "install" | "activate", listener: (event: Extendable) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetching) => void): void;
};

/** Another page of this origin, at another path, has caches of its own. */
const ours = `drive-trace ${new URL("./", location.href).pathname} `;
const current = ours + NAME;

scope.addEventListener("install", (event) => {
  event.waitUntil(caches.open(current).then((cache) => cache.addAll(FILES)));
});

scope.addEventListener("activate", (event) => {
  const older = (name: string): boolean => name.startsWith(ours) && name !== current;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(older).map((name) => caches.delete(name)))));
});

scope.addEventListener("fetch", (event) => {
  event.respondWith(caches.open(current).then(async (cache) =>
    (await cache.match(event.request, { ignoreSearch: true })) ?? fetch(event.request)));
});

/**
 * moor's own event stream next to `getinterfaceconfig`: server-sent events (WHATWG HTML, section 9.2). The first event
 * is a snapshot, every later one a change; the data of both is the whole report in one line, as in the answer of
 * `getinterfaceconfig`. Ids are opaque: a client that sends the latest one as `Last-Event-ID` gets no snapshot.
 */
export const interfaceEventsPath = "/api/diagnostics/interface/events";

export const interfaceEvents = { snapshot: "snapshot", change: "change" } as const;
export type InterfaceEvent = (typeof interfaceEvents)[keyof typeof interfaceEvents];

/** Milliseconds between comment lines on an idle stream. A stream that is silent three times as long is dead. */
export const heartbeatInterval = 15_000;

/** Milliseconds; sent as the stream's `retry` field. */
export const reconnectDelay = 2_000;

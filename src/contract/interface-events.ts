/**
 * The event stream beside `getinterfaceconfig`, moor's own: server-sent events (WHATWG HTML, section 9.2). The first event
 * is a snapshot, every later one a change; the data of both is the whole report in one line, as `getinterfaceconfig` answers
 * it. Ids are opaque: whoever sends the latest one as `Last-Event-ID` is owed no snapshot.
 */
export const interfaceEventsPath = "/api/diagnostics/interface/events";

export const interfaceEvents = { snapshot: "snapshot", change: "change" } as const;
export type InterfaceEvent = (typeof interfaceEvents)[keyof typeof interfaceEvents];

/** Milliseconds between two comment lines of a stream on which nothing happens: thrice that long without one is dead. */
export const heartbeatInterval = 15_000;

/** Milliseconds, as the stream's `retry` field tells. */
export const reconnectDelay = 2_000;

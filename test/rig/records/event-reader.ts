import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { ChangeEvent } from "../../../src/contract/change-events.ts";
import { patience } from "../patience.ts";

export type Received = { readonly id: string; readonly event: string; readonly data: ChangeEvent; readonly at: number };

export type EventReader = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** The events received so far. */
  readonly events: readonly Received[];
  /** All text received so far. */
  readonly text: () => string;
  /** The id from which a client would resume. */
  readonly lastId: () => string | undefined;
  /** Resolves when this is true, or fails after a minute. */
  readonly until: (ready: (reader: EventReader) => boolean) => Promise<void>;
  readonly ended: () => boolean;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly close: () => void;
};

/** A client of the event stream that reads it as the standard says. */
export async function readEvents(url: string, headers: Record<string, string>): Promise<EventReader> {
  const call: ClientRequest = request(url, { headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.once("response", resolve).once("error", reject).end();
  });
  call.on("error", () => undefined);
  response.on("error", () => undefined);
  const events: Received[] = [];
  const waiting = new Set<() => void>();
  let [text, rest, lastId, ended] = ["", "", undefined as string | undefined, false];
  const tell = () => {
    for (const check of waiting) check();
  };
  response.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    rest += chunk;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = fieldsOf(block);
      lastId = fields.id ?? lastId;
      if (fields.data === undefined) continue;
      const data = JSON.parse(fields.data) as ChangeEvent;
      events.push({ id: lastId ?? "", event: fields.event ?? "message", data, at: performance.now() });
    }
    tell();
  });
  response.on("close", () => {
    ended = true;
    tell();
  });

  const reader: EventReader = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    text: () => text,
    lastId: () => lastId,
    ended: () => ended,
    until: (ready) =>
      new Promise((resolve, reject) => {
        const end = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`timed out after ${patience} ms; the stream so far:\n${text.slice(-2000)}`));
        }, patience);
        const check = () => {
          if (!ready(reader)) return;
          clearTimeout(end);
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void call.destroy(),
  };
  return reader;
}

function fieldsOf(block: string): Record<string, string> {
  const lines = block.split("\n").filter((line) => !line.startsWith(":"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]),
  );
}

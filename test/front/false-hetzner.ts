import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "./two-moors.ts";

export type StoredSet = { ttl: number | null; values: string[] };

/** What happens to a request: undefined for what Hetzner does. `carryOut` stores what was asked for. */
export type Trick = (asked: {
  readonly method: string;
  readonly path: string;
  readonly carryOut: () => void;
  readonly sets: Map<string, StoredSet>;
}) => Promise<Reply | undefined> | Reply | undefined;
export type Reply = "cut" | { readonly status: number; readonly body: unknown; readonly retryAfter?: number };

export const action = (status = "success", error: Json = null) => ({ action: { id: 7, command: "x", status, error } });
export const fault = (code: string, message = code) => ({ error: { code, message, details: null } });

/** Hetzner's API for record sets, by its documentation, with a store that the test sees, and tricks. */
export class FalseHetzner {
  readonly zones = new Map<string, Map<string, StoredSet>>();
  trick: Trick = () => undefined;
  requests: string[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((asked, reply) => {
      this.#answer(asked).then(
        (answer) => {
          if (answer === "cut") return void asked.socket.destroy();
          const { status, body, retryAfter } = answer;
          reply.writeHead(status, {
            "content-type": "application/json",
            ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
          });
          reply.end(typeof body === "string" ? body : JSON.stringify(body));
        },
        () => asked.socket.destroy(),
      );
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(asked: IncomingMessage): Promise<Reply> {
    const { method = "", url = "" } = asked;
    let text = "";
    for await (const part of asked) text += part;
    const path = new URL(url, "http://x").pathname;
    this.requests.push(`${method} ${path}`);
    const body = text === "" ? {} : (JSON.parse(text) as Json);
    const [, , , zone = ""] = path.split("/");
    const carried: { reply?: Reply } = {};
    const carryOut = () => void (carried.reply ??= this.carryOut(method, path, body));
    const tricked = await this.trick({ method, path, carryOut, sets: this.zones.get(zone) ?? new Map() });
    if (tricked !== undefined) return tricked;
    carryOut();
    return carried.reply ?? "cut";
  }

  carryOut(method: string, path: string, body: Json): Reply {
    const [, , what, zone = "", , name = "", type = "", , verb] = path.split("/").map(decodeURIComponent);
    const page = { page: 1, per_page: 100, previous_page: null, next_page: null, last_page: 1, total_entries: 1 };
    const meta = { pagination: page };
    if (what === "actions") return { status: 200, body: action() };
    if (zone === "") {
      const zones = [...this.zones.keys()].map((each, id) => ({ id: id + 1, name: each, mode: "primary", ttl: 3600 }));
      return { status: 200, body: { zones, meta } };
    }
    const sets = this.zones.get(zone);
    if (sets === undefined) return { status: 404, body: fault("not_found", "zone not found") };
    const shown = (key: string, { ttl, values }: StoredSet) => {
      const [owner, its] = key.split(" ");
      return { id: `${owner}/${its}`, name: owner, type: its, ttl, records: values.map((value) => ({ value })) };
    };
    const values = (): string[] => body.records.map(({ value }: Json) => value);
    if (name === "" && method === "GET")
      return { status: 200, body: { rrsets: [...sets].map(([key, set]) => shown(key, set)), meta } };
    if (name === "") {
      const key = `${body.name} ${body.type}`;
      if (sets.has(key)) return { status: 409, body: fault("uniqueness_error") };
      sets.set(key, { ttl: body.ttl, values: values() });
      return { status: 201, body: { rrset: {}, ...action() } };
    }
    const key = `${name} ${type}`;
    const set = sets.get(key);
    if (set === undefined) return { status: 404, body: fault("not_found", "rrset not found") };
    if (method === "GET") return { status: 200, body: { rrset: shown(key, set) } };
    if (method === "DELETE") sets.delete(key);
    else if (verb === "set_records") sets.set(key, { ...set, values: values() });
    else if (verb === "change_ttl") sets.set(key, { ...set, ttl: body.ttl });
    return { status: 201, body: action() };
  }
}

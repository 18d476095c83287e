import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createToken, hashSecret } from "../../src/access/secret.ts";
import { type Scope, wholeAccount } from "../../src/core/may.ts";
import { createLog } from "../../src/process/log.ts";
import { type RecordsOptions, type RunningRecords, startRecords } from "../../src/records/start.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests inspect answers that the service has no types for
export type Json = any;

/** A record service in this process, and a client of its record-set API. */
export class Moor {
  readonly service: RunningRecords;
  readonly token: string;

  private constructor(service: RunningRecords, token: string) {
    [this.service, this.token] = [service, token];
  }

  static async start(
    options: Partial<Pick<RecordsOptions, "database" | "confirmWithin" | "now" | "dataFolder" | "recordLimits">> = {},
  ): Promise<Moor> {
    const dataFolder = await mkdtemp(join(tmpdir(), "moor-front-"));
    const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
    const listen = { host: "127.0.0.1", port: 0 };
    const service = await startRecords({
      ...{ dataFolder, listen, names: [], nameservers: ["ns1.example.net"], log, plainHttp: true },
      ...options,
    });
    return new Moor(service, await newToken(service, wholeAccount));
  }

  newToken(scope: Scope): Promise<string> {
    return newToken(this.service, scope);
  }

  async call(method: string, path: string, body?: unknown, token = this.token) {
    const answer = await fetch(`${this.service.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: (text === "" ? {} : JSON.parse(text)) as Json, text };
  }

  /** Fails unless the call succeeds. */
  async ok(method: string, path: string, body?: unknown, token = this.token): Promise<Json> {
    const { status, json, text } = await this.call(method, path, body, token);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return json;
  }

  put(zone: string, name: string, type: string, values: readonly string[], ttl = 300): Promise<Json> {
    const sets = [{ name, type, ttl, records: values.map((value) => ({ value })) }];
    return this.ok("POST", `/zones/${zone}/changes`, { changes: sets });
  }

  /** The sets of a zone without its NS and SOA, as lines. */
  async lines(zone: string): Promise<readonly string[]> {
    return await linesOf((page) => this.ok("GET", `/zones/${zone}/rrsets?per_page=100&page=${page}`));
  }

  async state(zone: string, name: string, type = "A"): Promise<Json> {
    const { sets } = await this.ok("GET", `/zones/${zone}/publication/sets?name=${name}&per_page=1000`);
    return sets.find((set: Json) => set.type === type);
  }

  async action(id: number): Promise<Json> {
    return (await this.ok("GET", `/actions/${id}`)).action;
  }
}

/** All sets of a list, without the NS and SOA of the zone. */
export async function linesOf(readPage: (page: number) => Promise<Json>): Promise<readonly string[]> {
  const lines: string[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const { rrsets, meta }: Json = await readPage(page);
    for (const { name, type, ttl, records } of rrsets)
      if (!(name === "@" && ["NS", "SOA"].includes(type)))
        lines.push(...records.map(({ value }: Json) => `${name} ${ttl ?? "-"} ${type} ${value}`));
    page = meta.pagination.next_page;
  }
  return lines.toSorted();
}

async function newToken({ store }: RunningRecords, scope: Scope): Promise<string> {
  const secret = createToken(64);
  const { id } = await store.ensureAccount("main", Date.now());
  await store.addToken({ account: id, name: "test", hash: hashSecret(secret), scope, created: Date.now() });
  return secret;
}

/** `front` publishes zones at `there`, which is a real Hetzner as far as it knows. `now`: the clock of `front`. */
export function twoMoors({ now }: Pick<RecordsOptions, "now"> = {}) {
  let front: Moor;
  let there: Moor;
  let zones = 0;
  beforeAll(async () => {
    there = await Moor.start();
    front = await Moor.start(now && { now });
  });
  afterAll(async () => {
    await front.service.close();
    await there.service.close();
  });

  return {
    front: () => front,
    there: () => there,
    /** A zone that exists at the provider and, without sets, here. */
    async zone(sets: readonly (readonly [string, string, string])[] = []): Promise<string> {
      zones += 1;
      const name = `zone${zones}.example`;
      for (const moor of [there, front]) await moor.ok("POST", "/zones", { name, mode: "primary" });
      for (const [owner, type, value] of sets) await there.put(name, owner, type, [value]);
      return name;
    },
    async provider(kind = "hetzner"): Promise<string> {
      const { providers } = await front.ok("GET", "/providers");
      const body = { name: kind, kind, url: there.service.url, token: there.token };
      if (!providers.some(({ name }: Json) => name === kind)) await front.ok("POST", "/providers", body);
      return kind;
    },
    async publish(zone: string, options: Json = {}): Promise<Json> {
      const provider = options.provider ?? (await this.provider());
      const { preview } = await front.ok("GET", `/zones/${zone}/publication/preview?provider=${provider}`);
      const body = { provider, digest: preview.digest, fill: "theirs", ...options };
      return { preview, ...(await front.ok("POST", `/zones/${zone}/actions/publish`, body)) };
    },
  };
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Namespace } from "./namespace.ts";
import { type Services, secretIn } from "./services.ts";

/** The record service from outside: the v1 API, called with curl. */
export type RecordsApi = {
  ask(method: string, path: string, body?: unknown): Promise<Asked>;
  makeZone(name: string): Promise<string>;
  makeRecord(record: NewRecord): Promise<string>;
  /** The records with this name: type to value. */
  addresses(zoneId: string, name: string): Promise<Readonly<Record<string, string>>>;
};

export type Asked = { readonly status: number; readonly body: Body };
type Body = { readonly zone?: Item; readonly record?: Item; readonly records?: readonly Item[] };
type Item = { readonly id: string; readonly name: string; readonly type: string; readonly value: string };

export type NewRecord = {
  readonly zone_id: string;
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly ttl?: number;
};

export function openRecordsApi(
  inside: Namespace,
  services: Pick<Services, "tokenFile" | "caFile" | "records">,
  folder: string,
): RecordsApi {
  const header = join(folder, "token-header");
  writeFileSync(header, `Auth-API-Token: ${secretIn(services.tokenFile)}\n`, { mode: 0o600 });
  const common = ["curl", "-sS", "--cacert", services.caFile, "-H", `@${header}`, "-w", "\n%{http_code}"] as const;

  const ask: RecordsApi["ask"] = async (method, path, body) => {
    const sent = body === undefined ? [] : ["-H", "Content-Type: application/json", "-d", JSON.stringify(body)];
    const url = `${services.records.url}/api/v1${path}`;
    const { code, out, err } = await inside.run([...common, "-X", method, ...sent, url]);
    if (code !== 0) throw new Error(`${method} ${path}: ${err}`);
    const end = out.lastIndexOf("\n");
    return { status: Number(out.slice(end + 1)), body: JSON.parse(out.slice(0, end) || "{}") as Body };
  };
  const made = async (path: string, body: unknown, item: "zone" | "record") => {
    const answer = await ask("POST", path, body);
    const id = answer.body[item]?.id;
    if (answer.status !== 200 || id === undefined) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`);
    return id;
  };
  return {
    ask,
    makeZone: (name) => made("/zones", { name, ttl: 60 }, "zone"),
    makeRecord: (record) => made("/records", record, "record"),
    async addresses(zoneId, name) {
      const { body } = await ask("GET", `/records?zone_id=${zoneId}`);
      const found = (body.records ?? []).filter((record) => record.name === name);
      return Object.fromEntries(found.map(({ type, value }) => [type, value]));
    },
  };
}

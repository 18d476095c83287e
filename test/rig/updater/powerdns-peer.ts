import { forward } from "./configured-target.ts";
import { setsOf } from "./set-lines.ts";
import type { TargetPeer } from "./target-faults.ts";
import { pdnsKey, startUpdateServer } from "./update-servers.ts";

export type Listed = { name: string; type: string; ttl: number; records: { content: string; disabled?: boolean }[] };

export const zonePath = "/api/v1/servers/localhost/zones/example.org.";
export const headers = { "x-api-key": pdnsKey, "content-type": "application/json" };

/** A real PowerDNS and its HTTP API. */
export async function openPowerdns(): Promise<TargetPeer> {
  let url = "";
  const server = await startUpdateServer("PowerDNS", async (_, http) => {
    url = `http://127.0.0.1:${http}`;
    return (await fetch(`${url}/api`).catch(() => undefined)) !== undefined;
  });
  const call = async (method: string, body?: unknown): Promise<{ rrsets: Listed[] }> => {
    const answer = await fetch(url + zonePath, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text}`);
    return text === "" ? { rrsets: [] } : JSON.parse(text);
  };
  const absolute = (name: string) => (name === "@" ? "example.org." : `${name}.example.org.`);
  const sets = async () =>
    (await call("GET")).rrsets.filter(
      ({ type, name }) => type !== "SOA" && !(type === "NS" && name === "example.org.") && !name.startsWith("ns1."),
    );
  return {
    settings: "token: { file: secret }",
    reply: (asked) => forward(url, asked),
    async fill(lines) {
      const gone = (await sets()).map(({ name, type }) => ({ name, type, changetype: "DELETE" }));
      await call("PATCH", { rrsets: gone });
      const wanted = setsOf(lines).map(({ name, ttl, type, values }) => ({
        ...{ name: absolute(name), ttl, type, changetype: "REPLACE" },
        records: values.map((content) => ({ content, disabled: false })),
      }));
      await call("PATCH", { rrsets: wanted });
    },
    held: async () =>
      (await sets())
        .flatMap(({ name, ttl, type, records }) =>
          records.map(({ content }) => `${name.replace(/\.?example\.org\.$/, "") || "@"} ${ttl} ${type} ${content}`),
        )
        .toSorted(),
    close: server.close,
  };
}

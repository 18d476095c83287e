import { expect, it } from "vitest";
import { forward } from "../rig/updater/configured-target.ts";
import { setsOf } from "../rig/updater/set-lines.ts";
import { never, order, type TargetPeer, type TargetRig } from "../rig/updater/target-faults.ts";
import { describeTarget } from "../rig/updater/target-suite.ts";
import { pdnsKey, startUpdateServer } from "../rig/updater/update-servers.ts";

type Listed = { name: string; type: string; ttl: number; records: { content: string; disabled?: boolean }[] };

const zonePath = "/api/v1/servers/localhost/zones/example.org.";
const headers = { "x-api-key": pdnsKey, "content-type": "application/json" };
const patch = (rig: TargetRig, body: unknown) =>
  rig.peer.reply?.({ method: "PATCH", path: zonePath, headers, body: JSON.stringify(body) });

async function openPowerdns(): Promise<TargetPeer> {
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
    (await call("GET")).rrsets.filter(({ type, name }) => !["SOA", "NS"].includes(type) && !name.startsWith("ns1."));
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

describeTarget({
  ...{ api: "powerdns", open: openPowerdns, secret: pdnsKey, several: "left alone", together: true },
  more(rig) {
    it("keeps comments and disabled records", async () => {
      const name = "home.example.org.";
      const records = [
        { content: "192.0.2.1", disabled: false },
        { content: "192.0.2.99", disabled: true },
      ];
      const comments = [{ content: "the hall", account: "me", modified_at: 1_700_000_000 }];
      const set = { name, type: "A", ttl: 300, changetype: "REPLACE", records, comments };
      await patch(rig, { rrsets: [set] });
      expect(await rig.dns.current(order, never)).toMatchObject({ value: { values: ["192.0.2.1"] } });
      expect((await rig.dns.replace(order, never)).kind).toBe("done");
      const { body = "" } = (await rig.peer.reply?.({ method: "GET", path: zonePath, headers, body: "" })) ?? {};
      const { rrsets } = JSON.parse(String(body)) as { rrsets: (Listed & { comments: object[] })[] };
      const held = rrsets.find((each) => each.name === name && each.type === "A");
      expect(held?.records.map(({ content, disabled }) => `${content} ${disabled}`).toSorted()).toEqual([
        "192.0.2.99 true",
        "9.9.9.9 false",
      ]);
      expect(held?.comments).toEqual(comments);
    });
  },
  http: { calls: 4, error: (status, message) => ({ status, body: { error: message } }) },
});

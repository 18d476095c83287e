import { hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import type { Actor } from "../../src/records/queries/permitted-view.ts";
import { createRecordService } from "../../src/records/service.ts";
import type { RecordStore } from "../../src/records/store/port.ts";

const hour = 3_600_000;

/** A few zones of a fictional harbour with two weeks of history, for screenshots and axe. */
export async function fillHarbour(store: RecordStore, now: number): Promise<void> {
  const { id: account } = await store.ensureAccount("main", now - 400 * hour);
  const person: Actor = { account, label: "main (console)", scope: wholeAccount };
  const updater: Actor = { account, label: "token 1 (router at home)", scope: wholeAccount };
  const at = (hoursAgo: number) =>
    createRecordService({
      store,
      now: () => now - hoursAgo * hour,
      nameservers: ["ns1.example.net", "ns2.example.net"],
    });

  for (const name of ["harbour.example", "lighthouse.example", "tide-tables.example"]) {
    await at(360).createZone(person, {
      name,
      mode: "primary",
      ttl: 3_600,
      labels: name === "harbour.example" ? { team: "quay" } : {},
      locked: name === "lighthouse.example",
      primaries: [],
      content: { kind: "sets", sets: [] },
    });
  }
  await at(360).createZone(person, {
    ...{ name: "lagoon.example", mode: "secondary", ttl: 3_600, labels: {}, locked: false },
    primaries: [{ address: "192.0.2.53", port: 53 }],
    content: { kind: "sets", sets: [] },
  });
  const zone = { name: "harbour.example" };
  const put = (
    hoursAgo: number,
    actor: Actor,
    name: string,
    type: "A" | "AAAA" | "MX" | "TXT" | "CNAME" | "CAA" | "SRV",
    values: readonly string[],
    comment = "",
    ttl?: number,
  ) =>
    at(hoursAgo).changeSets(actor, zone, {
      changes: [
        {
          name,
          type,
          to: { records: values.map((value) => ({ value, comment })), locked: false, ...(ttl && { ttl }) },
        },
      ],
      expectedSerial: undefined,
    });
  await put(350, person, "@", "A", ["192.0.2.10"]);
  await put(350, person, "@", "MX", ["10 mail.harbour.example.", "20 backup.harbour.example."]);
  await put(349, person, "@", "TXT", ['"v=spf1 mx -all"'], "mail only from our own servers");
  await put(349, person, "@", "CAA", ['0 issue "letsencrypt.org"']);
  await put(348, person, "www", "CNAME", ["harbour.example."]);
  await put(348, person, "mail", "A", ["192.0.2.25"], "rack 3");
  await put(347, person, "backup", "A", ["198.51.100.25"]);
  await put(346, person, "_sip._tcp", "SRV", ["10 5 5060 sip.harbour.example."]);
  await put(346, person, "sip", "A", ["192.0.2.60", "192.0.2.61"]);
  const ipv4 = [330, 290, 241, 166, 120, 73, 31, 3].map((hoursAgo, i) => {
    const value = `203.0.113.${[17, 88, 141, 23, 17, 201, 64, 97][i]}`;
    return { hoursAgo, type: "A", value } as const;
  });
  const ipv6 = [329, 120, 31].map((hoursAgo, i) => {
    const value = `2001:db8:4d:${["1a", "7f", "c3"][i]}::1`;
    return { hoursAgo, type: "AAAA", value } as const;
  });
  for (const { hoursAgo, type, value } of [...ipv4, ...ipv6].sort((a, b) => b.hoursAgo - a.hoursAgo))
    await put(hoursAgo, updater, "home", type, [value], "", 300);
}

/** Names of devices: one that calls, one whose token was revoked, and one that somebody set by hand. */
export async function fillQuay(store: RecordStore, now: number): Promise<void> {
  const { id: account } = await store.ensureAccount("main", now);
  const zone = "quay.example";
  const at = (hoursAgo: number) =>
    createRecordService({ store, now: () => now - hoursAgo * hour, nameservers: ["ns1.example.net"] });
  const person: Actor = { account, label: "main (console)", scope: wholeAccount };
  await at(700).createZone(person, { name: zone, mode: "primary", ttl: 300, primaries: [] });
  const put = (hoursAgo: number, actor: Actor, name: string, type: "A" | "AAAA", value: string) =>
    at(hoursAgo).changeSets(
      actor,
      { name: zone },
      {
        changes: [{ name, type, to: { records: [{ value, comment: "" }], locked: false } }],
        expectedSerial: undefined,
      },
    );
  const addDevice = async (owner: string, device: string) => {
    const scope = { access: "write", zones: [zone], sets: [{ owner, types: ["A", "AAAA"] }] } as const;
    const name = `${owner}.${zone} (${device})`;
    const { id } = await store.addToken({ account, name, hash: hashSecret(name), scope, created: now - 690 * hour });
    return { id, actor: { account, label: `token ${id} (${name})`, scope: wholeAccount } };
  };
  const cottage = await addDevice("cottage", "FRITZ!Box");
  for (const [i, hoursAgo] of [640, 472, 304, 136, 9].entries()) {
    await put(hoursAgo, cottage.actor, "cottage", "A", `203.0.113.${[8, 91, 140, 27, 72][i]}`);
    await put(hoursAgo, cottage.actor, "cottage", "AAAA", `2001:db8:${[71, 8, 55, 19, 62][i]}::7`);
  }
  store.noteUse(cottage.id, now - 140_000);
  const office = await addDevice("office", "Synology");
  for (const [i, hoursAgo] of [600, 410, 250, 60].entries())
    await put(hoursAgo, office.actor, "office", "A", `198.51.100.${[9, 23, 77, 51][i]}`);
  store.noteUse(office.id, now - 30 * hour);
  await store.revokeToken(office.id, now - 29 * hour);
  const crane = await addDevice("crane", "OpenWrt");
  await put(500, crane.actor, "crane", "A", "198.51.100.130");
  await put(26, person, "crane", "A", "198.51.100.131");
  store.noteUse(crane.id, now - 200_000);
}

/** A zone with many sets. */
export async function fillLargeZone(store: RecordStore, name: string, count: number): Promise<void> {
  const lines = Array.from(
    { length: count },
    (_, i) => `host${i} 300 IN A 10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`,
  );
  await fillZone(store, name, lines.join("\n"));
}

/** A zone with these lines of a zone file. */
export async function fillZone(store: RecordStore, name: string, lines: string): Promise<void> {
  const { id: account } = await store.ensureAccount("main", Date.now());
  const actor: Actor = { account, label: "main (console)", scope: wholeAccount };
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  await service.createZone(actor, {
    name,
    mode: "primary",
    ttl: 3_600,
    labels: {},
    locked: false,
    primaries: [],
    content: { kind: "file", text: `$ORIGIN ${name}.\n${lines}\n` },
  });
}

import type { RRset } from "../../src/core/records/rrset.ts";
import { acmeProofs } from "../../src/records/commands/acme-proof.ts";
import { updateFromDns } from "../../src/records/commands/from-dns-update.ts";
import { storeTransfer } from "../../src/records/commands/from-transfer.ts";
import { raiseSerialRule } from "../../src/records/commands/raise-serial.ts";
import { type Account, operatorAccount } from "../../src/records/model.ts";
import type { Actor } from "../../src/records/queries/permitted-view.ts";
import type { RecordService } from "../../src/records/service.ts";
import type { Signer } from "../../src/records/signing/signer.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { takeSigningStep } from "./signing-step.ts";

/** What a writer makes of its zone; `any` if it cannot know that before. */
export type Said = { readonly will: string } | { readonly did: string };

type Writer = (n: number) => AsyncGenerator<Said, void>;

type Tools = {
  readonly store: RecordStore;
  readonly signer: Signer;
  readonly service: RecordService;
  readonly actor: Actor;
  readonly account: Account;
};

export const any = "any";

const zoneOf = (kind: string): string => `${kind}.example`;
const valueOf = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
const hosts = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `h${i}`);
const records = (value: string) => [{ value, comment: "" }];
const fileOf = (count: number, value: string): string =>
  `@ 300 SOA ns1.example.net. h.example.net. 1 7200 900 1209600 300\n@ 300 NS ns1.example.net.\n${hosts(count)
    .map((host) => `${host} 60 A ${value}\n`)
    .join("")}`;

/** The value that all hosts of a zone have. */
export async function stateOf(store: RecordStore, kind: string): Promise<string> {
  const zone = await store.zoneHolding(zoneOf(kind));
  if (zone === undefined) return "no zone";
  const { dnssec, ttl } = zone.settings;
  if (kind === "signing") return dnssec?.stage ?? "unsigned";
  if (kind === "settings") return `${ttl}`;
  const values = (await store.sets(zone, {})).filter(isHost).flatMap((set) => set.records.map(({ rdata }) => rdata));
  const different = new Set(values);
  return different.size > 1 ? `torn: ${[...different].slice(0, 3).join(" ")}` : `${values.length} ${values[0] ?? ""}`;
}

const isHost = ({ owner, type }: RRset): boolean =>
  (type === "A" && /^h\d+$/.test(owner)) || (type === "TXT" && owner.startsWith("_acme"));

/** Says what will be, does it, and says that it is done. */
async function* step(will: string, work: () => Promise<unknown>): AsyncGenerator<Said, void> {
  yield { will };
  const outcome = await work();
  const isDone = [outcome].flat().every((each) => each === undefined || each === true || isSuccess(each));
  if (!isDone) throw new Error(JSON.stringify(outcome));
  yield { did: will };
}

const isSuccess = (outcome: unknown): boolean =>
  ["done", "changed", "unchanged"].includes((outcome as { readonly kind?: string }).kind ?? "");

/** One writer for each way to change a zone. Each first makes its zone, if there is none. */
export function createWriters(tools: Tools): Readonly<Record<string, Writer>> {
  const { store, service, actor } = tools;
  const made = async (kind: string, mode: "primary" | "secondary" = "primary") => {
    const content = { kind: "file", text: fileOf(0, "") } as const;
    await service.createZone(actor, { name: zoneOf(kind), ttl: 60, mode, ...(mode === "primary" && { content }) });
    const zone = await store.zoneHolding(zoneOf(kind));
    if (zone === undefined) throw new Error(`no zone for ${kind}`);
    return { zone, at: { name: zone.name } };
  };
  const put = (kind: string, value: string) =>
    service.editSet(
      actor,
      { zone: { name: zoneOf(kind) }, name: "h0", type: "A" },
      { kind: "put", draft: { records: records(value) } },
    );
  return {
    set: async function* (n) {
      if (n === 0) await made("set");
      yield* step(`1 ${valueOf(n)}`, () => put("set", valueOf(n)));
    },
    sets: async function* (n) {
      const { at } = await made("sets");
      const changes = hosts(30).map((name) => ({ name, type: "A", to: { records: records(valueOf(n)) } }));
      yield* step(`30 ${valueOf(n)}`, () => service.changeSets(actor, at, { changes }));
    },
    undo: async function* (n) {
      const { at } = await made("undo");
      yield* step(`1 ${valueOf(n)}`, () => put("undo", valueOf(n)));
      yield* step(`1 ${valueOf(n + 1)}`, () => put("undo", valueOf(n + 1)));
      const { serial = 0 } = (await store.zoneHolding(at.name)) ?? {};
      yield* step(`1 ${valueOf(n)}`, () => service.undo(actor, at, serial));
    },
    zone: async function* (n) {
      const text = fileOf(20, valueOf(n));
      const draft = { name: zoneOf("zone"), ttl: 60, content: { kind: "file", text } } as const;
      if ((await store.zoneHolding(draft.name)) === undefined)
        yield* step(`20 ${valueOf(n)}`, () => service.createZone(actor, draft, {}));
      yield* step("no zone", () => service.deleteZone(actor, { name: draft.name }, {}));
    },
    settings: async function* (n) {
      const { at } = await made("settings");
      yield* step(`${60 + (n % 1000)}`, () => service.changeZoneTtl(actor, at, 60 + (n % 1000)));
    },
    ...createRecordWriters(tools, made),
    ...createLargeWriters(tools, made),
    ...createOtherWriters(tools, made),
  };
}

type Made = (
  kind: string,
  mode?: "primary" | "secondary",
) => Promise<{
  readonly zone: Awaited<ReturnType<RecordStore["zoneHolding"]>> & object;
  readonly at: { readonly name: string };
}>;

function createRecordWriters({ store, service, actor }: Tools, made: Made): Readonly<Record<string, Writer>> {
  const draftOf = (name: string, value: string) => ({ type: "A", name, value, text: value, ttl: 60 }) as const;
  return {
    record: async function* (n) {
      const { zone } = await made("record");
      const [old] = (await store.sets(zone, { owner: "h0" })).flatMap((set) => set.records);
      if (old !== undefined) yield* step("0 ", () => service.deleteRecord(actor, old.id));
      let id = "";
      yield* step(`1 ${valueOf(n)}`, async () => {
        const created = await service.createRecord(actor, zone.id, draftOf("h0", valueOf(n)));
        if (created.kind === "done") id = created.recordInZone.record.id;
        return created;
      });
      const next = { zoneId: zone.id, draft: draftOf("h0", valueOf(n + 1)) };
      yield* step(`1 ${valueOf(n + 1)}`, () => service.replaceRecord(actor, id, next));
    },
    records: async function* (n) {
      const { zone } = await made("records");
      const before = (await store.sets(zone, {})).filter(isHost);
      const draft = (name: string) => ({ zoneId: zone.id, draft: draftOf(name, valueOf(n)) });
      yield* step(`30 ${valueOf(n)}`, async () =>
        before.length === 0
          ? await service.createRecords(actor, hosts(30).map(draft))
          : await service.replaceRecords(
              actor,
              before.flatMap(({ owner, records: [record] }) => (record ? [{ id: record.id, ...draft(owner) }] : [])),
            ),
      );
    },
    hosts: async function* (n) {
      const { at } = await made("hosts");
      const changes = hosts(3).map((name) => ({ name, type: "A", to: { records: records(valueOf(n)) } }));
      if (n === 0) await service.changeSets(actor, at, { changes });
      const names = hosts(3).map((host) => `${host}.${at.name}`);
      const ipv4 = { family: "ipv4", text: valueOf(n) } as const;
      yield* step(`3 ${valueOf(n)}`, () => service.pointHosts(actor, names, { ipv4 }));
    },
  };
}

/** More than 1,000 records, so that they are not written together with others. */
const manyHosts = 1_200;

function createLargeWriters({ store, service, actor }: Tools, made: Made): Readonly<Record<string, Writer>> {
  return {
    import: async function* (n) {
      const { at } = await made("import");
      const file = { text: fileOf(manyHosts, valueOf(n)), otherServers: true, merge: false };
      yield* step(`${manyHosts} ${valueOf(n)}`, () => service.importFile(actor, at, file));
    },
    transfer: async function* (n) {
      const { zone } = await made("transfer", "secondary");
      const serial = zone.serial + 1;
      const soa = `ns1.example.net. h.example.net. ${serial} 7200 900 1209600 300`;
      const lines = [
        { owner: "@", type: "SOA", ttl: 60, rdata: soa } as const,
        ...hosts(50).map((owner) => ({ owner, type: "A", ttl: 60, rdata: valueOf(n) }) as const),
      ];
      yield* step(`50 ${valueOf(n)}`, () => storeTransfer(store, zone, { kind: "whole", serial, lines }, Date.now()));
    },
  };
}

function createOtherWriters({ store, signer, account, actor }: Tools, made: Made): Readonly<Record<string, Writer>> {
  const newKey = { name: `k${account.id}`, algorithm: "hmac-sha256", secret: "", created: 0 } as const;
  const keyInStore = async () => {
    const added = await store.addTransferKey({ ...newKey, account: account.id, scope: actor.scope });
    const key = typeof added === "string" ? await store.transferKey(newKey.name) : added;
    if (key === undefined) throw new Error("the key was revoked");
    return key;
  };
  return {
    signing: async function* (n) {
      if (n === 0) await made("signing");
      yield { will: any };
      yield { did: await takeSigningStep(store, signer, zoneOf("signing"), "roll-sign") };
    },
    update: async function* (n) {
      const { at } = await made("update");
      const updates = hosts(3).flatMap((owner) => [
        { kind: "delete-set", owner, type: "A" } as const,
        { kind: "add", owner, type: "A", ttl: 60, rdata: valueOf(n) } as const,
      ]);
      const by = { key: await keyInStore(), from: "192.0.2.1" };
      const signature = `${process.pid} ${n}`;
      yield* step(`3 ${valueOf(n)}`, () =>
        updateFromDns(store, { zone: at.name, prerequisites: [], updates, ...by, signature, now: Date.now() }),
      );
    },
    acme: async function* (n) {
      if (account.name !== operatorAccount) throw new Error("only the operator's zones get challenges");
      const { at } = await made("acme");
      yield* step(`1 "${valueOf(n)}"`, () => acmeProofs(store, Date.now).publish(at.name, [valueOf(n)]));
    },
    serial: async function* (n) {
      const { zone } = await made("serial");
      const raise = { kind: "raise-serial", account: zone.account, zone: zone.id, sent: zone.serial } as const;
      yield* step("0 ", () => store.run({ ...raise, now: Date.now() + n }, raiseSerialRule));
    },
  };
}

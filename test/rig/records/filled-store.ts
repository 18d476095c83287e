import { createToken, hashSecret } from "../../../src/access/secret.ts";
import type { Instant } from "../../../src/core/instant.ts";
import { wholeAccount } from "../../../src/core/may.ts";
import { createRecordService } from "../../../src/records/service.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";

export const filledAt: Instant = Date.UTC(2026, 10, 15);

/** A store with rows in every table that the record service writes, made with the service's own operations. */
export async function fillStore(store: RecordStore, name = "example.org"): Promise<void> {
  let time = filledAt;
  const now = () => (time += 1_000);
  const service = createRecordService({ store, now, nameservers: ["ns1.example.net", "ns2.example.net"] });
  const account = await store.ensureAccount("main", now());
  const token = { account: account.id, name: "a token", hash: hashSecret(createToken()), scope: wholeAccount };
  await store.addToken({ ...token, created: now() });
  await store.addTransferKey({
    ...{ name: `ns2.${name}`, algorithm: "hmac-sha256", secret: "c2VjcmV0", account: undefined },
    ...{ scope: wholeAccount, created: now() },
  });
  const actor = { account: account.id, label: "a token", scope: wholeAccount };
  const draft = { mode: "primary", ttl: 3_600, labels: { team: "web" }, primaries: [], locked: false } as const;
  const content = (of: string) => ({ kind: "file", text: zoneText(of) }) as const;
  must(await service.createZone(actor, { ...draft, name, content: content(name) }, keyed(`${name} 1`)));
  must(
    await service.createZone(
      actor,
      { ...draft, name: `gone.${name}`, content: content(`gone.${name}`) },
      keyed(`${name} 2`),
    ),
  );
  must(await service.deleteZone(actor, { name: `gone.${name}` }, {}));
  must(await service.createZone(actor, { ...draft, name: `again.${name}`, content: { kind: "sets", sets: [] } }, {}));
  must(await service.changeZoneTtl(actor, { name }, 7_200));
  const { number: zone } = (await store.zoneBy(account.id, { name })) ?? {};
  for (const consent of [
    { zone, name: `granted.${name}` },
    { zone: undefined, name: "co.uk" },
  ])
    await store.addGrant({ ...consent, account: account.id, actor: "a token", created: now() });
  for (const value of ["192.0.2.10", "192.0.2.11", "192.0.2.12"]) {
    must(await service.changeSets(actor, { name }, one("www", value)));
  }
}

const one = (name: string, value: string) => ({
  changes: [{ name, type: "A", to: { records: [{ value, comment: "" }], ttl: 60 } }],
  expectedSerial: undefined,
});

const keyed = (key: string) => ({ idempotencyKey: { key, fingerprint: "f" } });

const zoneText = (name: string): string => `$ORIGIN ${name}.
$TTL 3600
@ IN SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 300
@ IN NS ns1.example.net.
@ IN NS ns2.example.net.
www 300 IN A 192.0.2.1 ; the web server
www 300 IN AAAA 2001:db8::1
mail IN MX 10 mx1
mail IN MX 20 mx2
alias IN CNAME www
text IN TXT "hello \\"world\\"" "second; part"
_sip._tcp IN SRV 10 20 5060 sip
`;

function must(outcome: { readonly kind: string }): void {
  if (outcome.kind !== "done") throw new Error(`not done: ${JSON.stringify(outcome)}`);
}

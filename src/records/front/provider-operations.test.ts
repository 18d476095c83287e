import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { usualQuotas } from "../../core/quotas.ts";
import { plainSettings, type StoredProvider, type Zone } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import type { PermittedView } from "../queries/permitted-view.ts";
import { limitAsking, type ProviderDraft, providerOperations } from "./provider-operations.ts";

const actor = { account: 2, label: "test", scope: wholeAccount };

function rig(count: number) {
  const all = Array.from({ length: count }, (_, id) => ({
    id,
    account: 2,
    name: `p${id}`,
    kind: "desec",
    url: "",
    sealed: "",
  }));
  let reads = 0;
  const zone = { name: "one.example", settings: { ...plainSettings(300), published: { provider: 1 } } } as Zone;
  const store = {
    account: async () => ({ id: 2 }),
    providers: async () => all,
    publishedZones: async () => {
      reads += 1;
      return [[zone]];
    },
    signedZones: async () => [],
    addProvider: async (added: object) => {
      all.push({ id: all.length, ...added } as (typeof all)[number]);
      return all.at(-1) as unknown as StoredProvider;
    },
  };
  const options = {
    store,
    now: () => 1,
    signer: { encryptText: () => "sealed", decryptText: () => "" },
  } as unknown as RecordServiceOptions;
  const operations = providerOperations(
    options,
    { refusal: () => undefined } as unknown as PermittedView,
    limitAsking(),
  );
  return { operations, all, reads: () => reads };
}

/** Stands in for a provider that knows one token. */
const there = createServer((request, response) => {
  const isKnown = request.headers.authorization === "Bearer secret";
  const body = isKnown
    ? { zones: [], meta: {} }
    : { error: { code: "unauthorized", message: "unable to authenticate" } };
  response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" }).end(JSON.stringify(body));
});
let draft: ProviderDraft;
beforeAll(async () => {
  await once(there.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(there.address() as AddressInfo).port}`;
  draft = { name: "new", kind: "hetzner", token: "secret", url, ca: undefined };
});
afterAll(() => there.close());

test("the zones of all providers are read once", async () => {
  const { operations, reads } = rig(usualQuotas.providers);
  const found = await operations.providers(actor);
  const zones = found.kind === "done" ? found.providers.map((each) => each.zones) : [];
  expect(zones).toEqual([0, 1, ...Array.from({ length: usualQuotas.providers - 2 }, () => 0)]);
  expect(reads()).toBe(1);
});

test("an account may have a limited number of providers", async () => {
  const { operations, all } = rig(usualQuotas.providers - 1);
  expect(await operations.addProvider(actor, draft)).toMatchObject({
    kind: "done",
    provider: { name: "new", zones: 0 },
  });
  const refusal = {
    faults: [
      { code: "too-many-providers", message: expect.stringMatching(/^an account may have at most 100 providers;/) },
    ],
  };
  expect(await operations.addProvider(actor, { ...draft, name: "more" })).toMatchObject(refusal);
  expect(all).toHaveLength(usualQuotas.providers);
});

test.each([
  ["its token is refused", { token: "wrong" }, "bad-token", /^Hetzner denied access \(401: unable to authenticate\)/],
  ["it does not answer", { url: "http://127.0.0.1:9" }, "provider-unread", /^Hetzner could not be reached: /],
])("a provider is not stored if %s", async (_, changed, code, message) => {
  const { operations, all } = rig(1);
  const refusal = { kind: "refused", faults: [{ code, message: expect.stringMatching(message) }] };
  expect(await operations.addProvider(actor, { ...draft, ...changed })).toMatchObject(refusal);
  expect(all).toHaveLength(1);
});

test("of one account, four requests ask a provider at a time; the next one writes nothing and may come later", async () => {
  const { operations, all } = rig(2);
  const add = (i: number) => operations.addProvider(actor, { ...draft, name: `new-${i}` });
  const asking = [1, 2, 3, 4].map(add);
  await expect(add(5)).rejects.toMatchObject({ retryAfter: 10, isLogged: true });
  for (const each of await Promise.all(asking)) expect(each.kind).toBe("done");
  expect(all.map(({ name }) => name)).not.toContain("new-5");
  expect((await add(5)).kind).toBe("done");
});

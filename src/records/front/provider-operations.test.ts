import { expect, test } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { plainSettings, type StoredProvider, type Zone } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import type { PermittedView } from "../queries/permitted-view.ts";
import { mostProviders, providerOperations } from "./provider-operations.ts";

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
    account: async () => ({ id: 1 }),
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
  const operations = providerOperations(options, { refusal: () => undefined } as unknown as PermittedView);
  return { operations, all, reads: () => reads };
}

const draft = { name: "new", kind: "desec", token: "secret", url: undefined, ca: undefined };

test("the zones of all providers are read once", async () => {
  const { operations, reads } = rig(mostProviders);
  const found = await operations.providers(actor);
  const zones = found.kind === "done" ? found.providers.map((each) => each.zones) : [];
  expect(zones).toEqual([0, 1, ...Array.from({ length: mostProviders - 2 }, () => 0)]);
  expect(reads()).toBe(1);
});

test("an account may have a limited number of providers", async () => {
  const { operations, all } = rig(mostProviders - 1);
  expect(await operations.addProvider(actor, draft)).toMatchObject({
    kind: "done",
    provider: { name: "new", zones: 0 },
  });
  const refusal = { faults: [{ code: "too-many-providers", message: "an account may have 100 providers" }] };
  expect(await operations.addProvider(actor, { ...draft, name: "more" })).toMatchObject(refusal);
  expect(all).toHaveLength(mostProviders);
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wholeAccount } from "../core/may.ts";
import { type PostgresRig, startPostgresRig } from "./rig/postgres.ts";
import { describeStore } from "./store.suite.ts";
import { describeActions } from "./store-actions.suite.ts";
import { describeManyWrites } from "./store-many.suite.ts";
import { describeTokens } from "./store-tokens.suite.ts";
import { describeTransferKeys } from "./store-transfer.suite.ts";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());

const open = () => rig.open();
describeStore("PostgreSQL", open);
describeTokens("PostgreSQL", open);
describeTransferKeys("PostgreSQL", open);
describeActions("PostgreSQL", open);
describeManyWrites("PostgreSQL", open);

describe("a PostgreSQL database", () => {
  it("holds what was written when it is opened again, and what was still waiting", async () => {
    const url = await rig.freshUrl();
    const first = await rig.open(url);
    const account = await first.ensureAccount("main", 1);
    const token = { account: account.id, name: "t", hash: "h", scope: wholeAccount, created: 1 };
    first.noteUse((await first.addToken(token)).id, 7);
    const pending = first.ensureAccount("other", 1);
    await first.close();
    expect(await pending).toMatchObject({ name: "other" });
    const second = await rig.open(url);
    expect(await second.tokens()).toMatchObject([{ name: "t", uses: 1, lastUsed: 7 }]);
    await second.close();
  });
});

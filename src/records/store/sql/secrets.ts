import { createToken } from "../../../access/secret.ts";
import type { RecordStore } from "../port.ts";
import type { Sql } from "./tables.ts";

/** What the database keeps from clients. Whoever comes first makes it, and all others read what that one has written. */
export function createSqlSecrets({ text: { db }, run }: Sql): Pick<RecordStore, "secret"> {
  const find = async (name: string): Promise<string | undefined> =>
    (await run(db.selectFrom("secrets").select("value").where("name", "=", name).compile()))[0]?.value;
  return {
    secret: async (name) => {
      const known = await find(name);
      if (known !== undefined) return known;
      const made = db.insertInto("secrets").values({ name, value: createToken(43) });
      await run(made.onConflict((conflict) => conflict.doNothing()).compile());
      const kept = await find(name);
      if (kept === undefined) throw new Error("the secret just written cannot be read");
      return kept;
    },
  };
}

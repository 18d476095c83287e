import { scryptSync } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cheapPasswords } from "../../../test/rig/cheap-passwords.ts";
import { addressOf, startPostgresRig } from "../../../test/rig/records/postgres.ts";
import { noLog } from "../../process/log.ts";
import { openStore } from "../open-store.ts";
import { createConsoleSessions } from "./sessions.ts";

/** A hash from before the cost was raised. */
const older = (password: string): string => {
  const hash = scryptSync(password, Buffer.from("saltsaltsaltsalt"), 32, { N: 512, r: 8, p: 1 });
  return `scrypt$512$8$1$c2FsdHNhbHRzYWx0c2FsdA$${hash.toString("base64url")}`;
};

it.each(["sqlite", "postgres"])("a password with an old hash still works, and gets a new hash: %s", async (kind) => {
  const renewed = /^scrypt\$1024\$8\$1\$/;
  const rig = kind === "postgres" ? await startPostgresRig() : undefined;
  const path = join(mkdtempSync(join(tmpdir(), "moor-console-")), "records.sqlite");
  const place = rig
    ? { kind: "postgres" as const, address: addressOf(await rig.preparedUrl()) }
    : { kind: "sqlite" as const, path };
  const { store, console, close } = await openStore(place, noLog);
  const { people } = createConsoleSessions(store, console, () => 1, { passwordCost: cheapPasswords });
  const { id } = await store.ensureAccount("main", 1);
  const stored = async () => (await console.account(id))?.passwordHash;
  await console.setPassword(id, older("of long ago"), 1);
  expect(await people.check("main", "another one")).toBeUndefined();
  expect(await stored()).toBe(older("of long ago"));
  expect(await people.check("main", "of long ago")).toBe(String(id));
  expect(await stored()).toMatch(renewed);
  expect(await people.check("main", "of long ago")).toBe(String(id));
  // If the password was changed in the meantime, the new one stays.
  await console.renewHash(id, { from: older("of long ago"), to: "scrypt$1$1$1$x$y" });
  expect(await stored()).toMatch(renewed);
  await close();
  await rig?.stop();
});

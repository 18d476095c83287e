import { describe, expect, it } from "vitest";
import { cheapPasswords } from "../../test/rig/cheap-passwords.ts";
import { cpuTime } from "../../test/rig/cpu-time.ts";
import { checkPassword, hashPassword } from "./password.ts";

/** The current cost takes a third of a second each time, so only tests that depend on it use it. */
const hashCheaply = (password: string) => hashPassword(password, cheapPasswords);
const matchesPassword = async (password: string, stored: string | undefined) =>
  (await checkPassword(password, stored, cheapPasswords)).matches;

describe("passwords", () => {
  it("match themselves and nothing else", async () => {
    const stored = await hashCheaply("correct horse");
    expect(await matchesPassword("correct horse", stored)).toBe(true);
    for (const wrong of ["", "correct hors", "correct horse ", "Correct horse"])
      expect(await matchesPassword(wrong, stored)).toBe(false);
  });

  /** That they match is checked in `src/cli/firewall/user.test.ts`. */
  it("are stored with method and the current cost", async () => {
    expect(await hashPassword("correct horse")).toMatch(/^scrypt\$131072\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
  });

  it("have a unique salt", async () => {
    expect(await hashCheaply("same")).not.toBe(await hashCheaply("same"));
  });

  it("match however their accents were typed", async () => {
    expect(await matchesPassword("Bu\u0308ro", await hashCheaply("B\u00fcro"))).toBe(true);
  });

  it("still match if the cost was different, and are rehashed at the current cost", async () => {
    const { scryptSync } = await import("node:crypto");
    const hash = scryptSync("old", Buffer.from("saltsaltsaltsalt"), 32, { N: 512, r: 8, p: 1 });
    const older = `scrypt$512$8$1$c2FsdHNhbHRzYWx0c2FsdA$${hash.toString("base64url")}`;
    const { matches, renewed } = await checkPassword("old", older, cheapPasswords);
    expect([matches, renewed]).toEqual([true, expect.stringMatching(/^scrypt\$1024\$8\$1\$/)]);
    expect(await checkPassword("old", renewed, cheapPasswords)).toEqual({ matches: true });
    expect(await checkPassword("wrong", older, cheapPasswords)).toEqual({ matches: false });
  });

  it("of unknown users match nothing, and take as long", async () => {
    const cost = { ...cheapPasswords, N: 8_192 };
    const stored = await hashPassword("x", cost);
    const lasting = async (hash: string | undefined) => {
      const before = cpuTime();
      expect(await checkPassword("none", hash, cost)).toEqual({ matches: false });
      return cpuTime() - before;
    };
    const known: number[] = [];
    const unknown: number[] = [];
    // Other work in this process may slow down any of them, but not all.
    for (let i = 0; i < 3; i++) {
      known.push(await lasting(stored));
      unknown.push(await lasting(undefined));
    }
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) / 4);
    expect(await matchesPassword("x", "md5$x")).toBe(false);
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { seal, unseal } from "./sealed.ts";

it("what was sealed is read with the same secret only, and only if nothing was changed", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), fc.nat(), (text, secret, other, place) => {
      const sealed = seal(text, secret);
      expect(unseal(sealed, secret)).toBe(text);
      if (other !== secret) expect(unseal(sealed, other)).toBeUndefined();
      const bytes = Buffer.from(sealed, "base64url");
      const at = place % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      expect(unseal(bytes.toString("base64url"), secret)).toBeUndefined();
      expect(unseal(sealed.slice(0, at), secret)).toBeUndefined();
    }),
  );
});

it("the same text is sealed differently each time", () =>
  expect(seal("text", "secret")).not.toBe(seal("text", "secret")));

import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createKey, readAccountKey, txtValueOf } from "./account-key.ts";

describe("the account key", () => {
  it("signs header and payload as in RFC 7515: the public key verifies them", () => {
    const key = readAccountKey(createKey());
    const jws = JSON.parse(key.sign({ alg: "ES256" }, "{}")) as Record<"protected" | "payload" | "signature", string>;
    const open = createPublicKey({ key: { ...key.jwk }, format: "jwk" });
    const input = Buffer.from(`${jws.protected}.${jws.payload}`);
    const signature = Buffer.from(jws.signature, "base64url");
    expect(verify("sha256", input, { key: open, dsaEncoding: "ieee-p1363" }, signature)).toBe(true);
    expect(Buffer.from(jws.protected, "base64url").toString()).toBe('{"alg":"ES256"}');
  });

  it("authorizes a token with its thumbprint, which never changes", () => {
    const pem = createKey();
    const [token, thumbprint = ""] = readAccountKey(pem).authorize("t-1").split(".");
    expect([token, thumbprint]).toEqual(["t-1", expect.stringMatching(/^[\w-]{43}$/)]);
    expect(readAccountKey(pem).authorize("t-1")).toBe(`t-1.${thumbprint}`);
    expect(txtValueOf(`t-1.${thumbprint}`)).toMatch(/^[\w-]{43}$/);
  });
});

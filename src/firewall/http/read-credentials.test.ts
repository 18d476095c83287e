import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../../test/rig/any-text.ts";
import { type Credentials, readCredentials } from "./authorise.ts";

const encoded = (text: string) => Buffer.from(text).toString("base64");

describe("readCredentials", () => {
  it.each<[string, string | undefined, Credentials]>([
    ["no header", undefined, { kind: "missing" }],
    ["empty", "", { kind: "unusable" }],
    ["the scheme alone", "Basic", { kind: "unusable" }],
    ["not base64", "Basic ???", { kind: "unusable" }],
    ["no colon", `Basic ${encoded("keysecret")}`, { kind: "unusable" }],
    ["two spaces after the scheme", `Basic  ${encoded("key:secret")}`, { kind: "unusable" }],
    ["as it should be", `Basic ${encoded("key:secret")}`, { kind: "given", key: "key", secret: "secret" }],
    ["scheme in lower case", `basic ${encoded("key:secret")}`, { kind: "given", key: "key", secret: "secret" }],
    ["another scheme", `Bearer ${encoded("key:secret")}`, { kind: "given", key: "key", secret: "secret" }],
    ["a second colon", `Basic ${encoded("key:secret:more")}`, { kind: "given", key: "key", secret: "secret" }],
    ["an empty key", `Basic ${encoded(":secret")}`, { kind: "given", key: "", secret: "secret" }],
  ])("%s", (_, header, credentials) => {
    expect(readCredentials(header)).toEqual(credentials);
  });

  it("never throws, and reads back what was sent", () => {
    const part = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll(":", ""));
    fc.assert(fc.property(fc.string(), (text) => ["given", "unusable"].includes(readCredentials(text).kind)));
    fc.assert(
      fc.property(part, part, (key, secret) => {
        const header = `Basic ${encoded(`${key}:${secret}`)}`;
        const wellFormed = Buffer.from(`${key}:${secret}`).toString();
        expect(readCredentials(header)).toMatchObject({
          key: wellFormed.split(":")[0],
          secret: wellFormed.split(":")[1],
        });
      }),
    );
  });
});

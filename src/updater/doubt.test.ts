import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loop, openLoop } from "./rig/loop.ts";
import { type Reply, wanWith } from "./rig/services.ts";

/** A write whose end is not known leaves the stored address in doubt: the record may hold the old one or the new one. */

let loop: Loop;
beforeEach(async () => {
  loop = await openLoop();
  await loop.round();
});
afterEach(() => loop.close());

const atHome = (ipv4: string) => () => ({ body: { wan0: wanWith([ipv4], ["2a00::9"]) } });
const answered = (reply: Reply) => {
  loop.says.service = ({ method, path }) => (method === "PUT" && path.endsWith("r4") ? reply : undefined);
};
const goodAgain = () => {
  loop.says.service = () => undefined;
  loop.clock.now += 300_000;
};
const written = () => loop.writes().map(({ body }) => (JSON.parse(body) as { value: string }).value);

describe("an address that goes back to the stored one", () => {
  it.each([
    ["the answer was lost", { fault: "reset" } as const, false],
    ["the service failed", { status: 500 }, false],
    ["the service failed, and we were restarted", { status: 500 }, true],
  ])("is written again when %s", async (_, reply, restart) => {
    loop.says.firewall = atHome("9.9.9.10");
    answered(reply);
    expect(await loop.round()).toEqual(["failed", "nothing"]);
    if (restart) await loop.reopen();
    loop.says.firewall = atHome("9.9.9.9");
    goodAgain();
    expect(await loop.round()).toEqual(["done", "nothing"]);
    expect(written().at(-1)).toBe("9.9.9.9");
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
  });

  it("is not written again when the service had refused the other one", async () => {
    loop.says.firewall = atHome("9.9.9.10");
    answered({ status: 422, body: { record: {}, error: { message: "no", code: 422 } } });
    expect(await loop.round()).toEqual(["failed", "nothing"]);
    const before = loop.writes().length;
    loop.says.firewall = atHome("9.9.9.9");
    goodAgain();
    expect(await loop.round()).toEqual(["nothing", "nothing"]);
    expect(loop.writes().length).toBe(before);
  });
});

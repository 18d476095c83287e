import { expect, it } from "vitest";
import { openProvider } from "../../src/providers/open-provider.ts";
import { changesFor, describeProvider } from "../rig/providers/provider-suite.ts";
import { fakeDesec } from "../rig/updater/fakes/desec.ts";
import { never } from "../rig/updater/target-faults.ts";

const secret = "t0ken-0123456789abcdefghijklmnopqrstuvwx";
const desec = fakeDesec(secret);

describeProvider({
  ...{ title: "desec", secret, ttl: 3600, otherTtl: 7200, many: 1_200 },
  open: async () => ({ settings: "", reply: desec.reply, fill: desec.fill, held: desec.held, close: () => undefined }),
  connect: (url, token) =>
    openProvider({ kind: "desec", url: new URL(url), trust: { kind: "system" }, token: () => token }),
  http: { error: (status, message) => ({ status, body: { detail: message } }) },
  more(rig) {
    it("does not take the echo of a write for what is stored", async () => {
      const change = changesFor(["www 3600 A 192.0.2.1"]);
      rig.instead = ({ method, body }) => (method === "PATCH" ? { status: 200, body: JSON.parse(body) } : undefined);
      expect(await rig.provider.write("example.org", change, never)).toMatchObject([{ kind: "unknown" }]);
      rig.instead = () => undefined;
      expect(await rig.provider.write("example.org", change, never)).toMatchObject([{ kind: "done" }]);
    });

    it("a limit of one zone does not stop the others", async () => {
      rig.instead = () => ({ status: 429, body: { detail: "slow down" }, headers: { "retry-after": "7" } });
      await rig.provider.write("example.org", changesFor(["www 3600 A 192.0.2.1"]), never);
      expect([rig.provider.wait("example.org") > 5_000, rig.provider.wait("example.net")]).toEqual([true, 0]);
    });

    it("finds the set with a TTL that is too low, and stores the others", async () => {
      const outcomes = await rig.provider.write(
        "example.org",
        changesFor(["a 3600 A 192.0.2.1", "b 60 A 192.0.2.1", "c 3600 A 192.0.2.1"]),
        never,
      );
      const because = "deSEC refused: 400: ttl: Ensure this value is greater than or equal to 3600.";
      expect(outcomes).toMatchObject([{ kind: "done" }, { kind: "refused", fault: { because } }, { kind: "done" }]);
    });
  },
});

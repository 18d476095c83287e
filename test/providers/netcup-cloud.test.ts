import { expect, it } from "vitest";
import { openProvider } from "../../src/providers/open-provider.ts";
import { changesFor, describeProvider } from "../rig/providers/provider-suite.ts";
import { fakeNetcupCloud } from "../rig/updater/fakes/netcup-cloud.ts";
import { never } from "../rig/updater/target-faults.ts";

const secret = "t0ken-0123456789abcdefghijklmnopqrstuvwx";
const cloud = fakeNetcupCloud(secret, { missing: "empty" });

describeProvider({
  ...{ title: "netcup-cloud", secret },
  open: async () => ({ settings: "", reply: cloud.reply, fill: cloud.fill, held: cloud.held, close: () => undefined }),
  connect: (url, token) =>
    openProvider({ kind: "netcup-cloud", url: new URL(url), trust: { kind: "system" }, token: () => token }),
  http: {
    error: (status, message) => ({ status, body: { success: false, errors: [{ code: "", message }], result: null } }),
  },
  isWrite: ({ method }) => method === "POST",
  more(rig) {
    it("overwrites nothing that somebody else has changed since it was read", async () => {
      await rig.peer.fill(["www 300 A 192.0.2.1"]);
      rig.instead = async ({ path }) => {
        if (path.endsWith("/changeset")) await rig.peer.fill(["www 300 A 192.0.2.7"]);
        return undefined;
      };
      const outcomes = await rig.provider.write("example.org", changesFor(["www 300 A 192.0.2.2"]), never);
      expect(outcomes).not.toMatchObject([{ kind: "done" }]);
      expect(await rig.peer.held()).toContain("www 300 A 192.0.2.7");
    });
  },
});

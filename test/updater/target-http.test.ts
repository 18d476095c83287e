import { afterAll, beforeAll } from "vitest";
import { openUpdateUrl, updateUrls } from "../rig/updater/fakes/update-urls.ts";
import { openNameserver } from "../rig/updater/nameserver-peer.ts";
import type { TargetPeer } from "../rig/updater/target-faults.ts";
import { describeTarget } from "../rig/updater/target-suite.ts";

/** Every service that takes an address in one request. */

const secret = "t0ken-0123456789abcdefghijklmnopqrstuvwx";
let nameserver: TargetPeer;
beforeAll(async () => {
  nameserver = await openNameserver((port) => `dns: ["127.0.0.1:${port}"]`);
});
afterAll(() => nameserver.close());

for (const [api, fake] of Object.entries(updateUrls)) {
  const lacks = [
    ...(fake.echoes === false ? ["address" as const] : []),
    ...(fake.explains === false ? ["reason" as const] : []),
    ...(fake.named === false ? ["name" as const] : []),
  ];
  describeTarget({
    ...{ api, secret, lists: false, several: "replaced", lacks, isWrite: () => true },
    open: async () => openUpdateUrl(fake, secret, nameserver),
    http: { calls: 1, error: fake.error },
    everyFault: api === "http",
  });
}

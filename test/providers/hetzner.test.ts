import { afterAll } from "vitest";
import { openProvider } from "../../src/providers/open-provider.ts";
import { describeProvider } from "../rig/providers/provider-suite.ts";
import { moorToken, openMoorPeer } from "../rig/updater/moor-peer.ts";

/** Another moor is a real Hetzner. One for all kinds: each test begins with an empty zone. */
let peer: ReturnType<typeof openMoorPeer> | undefined;
const open = async () => {
  peer ??= openMoorPeer(() => "");
  return { ...(await peer), close: () => undefined };
};
afterAll(async () => (await peer)?.close());

for (const kind of ["hetzner", "hetzner-v1", "moor"] as const)
  describeProvider({
    ...{ title: kind, open, secret: moorToken },
    connect: (url, secret) => openProvider({ kind, url: new URL(url), trust: { kind: "system" }, token: () => secret }),
    http: {
      error: (status, message) => {
        const error = kind === "hetzner-v1" ? { code: status, message } : { code: "some_code", message, details: null };
        return { status, body: { error } };
      },
    },
  });

import { openProvider } from "../../src/providers/open-provider.ts";
import { describeProvider } from "../rig/providers/provider-suite.ts";
import { openPowerdns } from "../rig/updater/powerdns-peer.ts";
import { pdnsKey } from "../rig/updater/update-servers.ts";

describeProvider({
  ...{ title: "powerdns", open: openPowerdns, secret: pdnsKey, createsAgain: true },
  connect: (url, token) =>
    openProvider({ kind: "powerdns", url: new URL(url), trust: { kind: "system" }, token: () => token }),
  http: { error: (status, message) => ({ status, body: { error: message } }) },
});

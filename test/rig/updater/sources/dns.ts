import type { SourceFault, SourceRig } from "../source-suite.ts";
import { type Reply, startEchoNameserver } from "./echo-nameservers.ts";

/** Two nameservers that answer with TXT records, and one that answers with addresses. */
export async function startDns(): Promise<SourceRig> {
  const servers = await Promise.all([1, 2, 3].map(startEchoNameserver));
  let waiting = 0;
  const all = (reply: Reply | (() => Reply)) => {
    for (const server of servers) server.says = () => (typeof reply === "function" ? reply() : reply);
  };
  const fault = (title: string, reply: Reply, because: RegExp): SourceFault => ({
    ...{ title, because, begin: () => all(reply) },
  });
  const questions = servers.flatMap(({ addresses }, at) =>
    Object.values(addresses).map(
      (server) => `{ server: "${server}", name: myip.test, type: ${at < 2 ? "TXT" : "address"} }`,
    ),
  );
  return {
    entry: (timeout) => `{ kind: dns, questions: [${questions.join(", ")}], timeout: ${timeout} }`,
    device: "internet",
    say({ ipv4, ipv6 }) {
      // A caller has one address.
      if (ipv4.length > 1 || ipv6.length > 1) return false;
      for (const server of servers) server.says = (_, family) => (family === "ipv4" ? ipv4 : ipv6);
      return true;
    },
    faults: [
      {
        title: "disagrees",
        because: /2 of 3 must agree on one IPv4 address: .*said 8.8.8.1.*2 of 3 must agree on one IPv6 address/,
        begin() {
          for (const [at, server] of servers.entries())
            server.says = (_, family) => [family === "ipv4" ? `8.8.8.${at}` : `2a00::${at}`];
        },
      },
      fault("knows no such name", 3, /answered with the error NXDOMAIN/),
      fault("refuses", 5, /answered with the error REFUSED/),
      fault("fails", 2, /answered with the error SERVFAIL/),
      fault("has no records", [], /has no such record/),
      fault("has two", ["9.9.9.9", "9.9.9.10", "2a00::9", "2a00::10"], /answered with \d records/),
      fault("says something else", ["thesecret"], /answered "thesecret", which is not an IPv4 address/),
      {
        ...fault("is unreadable", Buffer.from("no DNS message"), /does not answer .*no answer in 500 ms/),
        isSlow: true,
      },
      { ...fault("is slow", undefined, /does not answer .*no answer in 500 ms/), isSlow: true },
    ],
    stall: () =>
      all(() => {
        waiting += 1;
        return undefined;
      }),
    stalled: () => waiting,
    open: () => 0,
    close() {
      for (const server of servers) server.close();
    },
  };
}

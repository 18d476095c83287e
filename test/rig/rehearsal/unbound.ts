import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export type UnboundSettings = {
  /** For its config and its control socket. */
  readonly folder: string;
  readonly port: number;
  /** DNSKEY records that it trusts. */
  readonly anchors: readonly string[];
  /** Which local ports it queries for which zones. */
  readonly stubs: readonly { readonly name: string; readonly servers: readonly number[] }[];
  readonly more: readonly string[];
};

/** A validating resolver that queries only servers on this machine. */
export const unboundConfig = ({ folder, port, anchors, stubs, more }: UnboundSettings): string =>
  `server:
  interface: 127.0.0.1
  port: ${port}
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  num-threads: 1
  do-ip6: no
  do-not-query-localhost: no
  module-config: "validator iterator"
${[...anchors.map((record) => `trust-anchor: "${record}"`), ...more].map((line) => `  ${line}\n`).join("")}remote-control:
  control-enable: yes
  control-interface: "${join(folder, "control")}"
${stubs.map(({ name, servers }) => `stub-zone:\n  name: "${name}."\n${servers.map(stubAddress).join("")}`).join("")}`;

const stubAddress = (server: number): string => `  stub-addr: 127.0.0.1@${server}\n`;

/** As unbound-control does. */
export async function tellUnbound(folder: string, command: string): Promise<void> {
  const connection = connect(join(folder, "control"));
  connection.end(`UBCT1 ${command}\n`);
  const reply = await text(connection);
  if (!reply.startsWith("ok")) throw new Error(`unbound refused "${command}": ${reply.trim()}`);
}

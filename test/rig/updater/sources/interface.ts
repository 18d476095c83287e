import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDevice } from "../../device.ts";
import { environment, openNamespace } from "../../namespace.ts";
import type { SourceRig } from "../source-suite.ts";

/** A program `ip` in front of the real one, until `restore`. */
function replaceIp(folder: string) {
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  return {
    write(script: string) {
      writeFileSync(join(folder, "ip"), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, "ip"), 0o755);
    },
    restore() {
      process.env.PATH = PATH;
    },
  };
}

/** The real kernel, but not the interfaces of this machine: `ip` runs in a namespace. */
export async function startInterface(folder: string): Promise<SourceRig> {
  const inside = await openNamespace();
  const wan = await makeDevice(inside, "wan0");
  const ip = replaceIp(folder);
  const resident = inside.start(["sh", "-c", "echo $$ is here; exec sleep infinity"]);
  await resident.says(/is here/);
  const pid = resident.out().split(" ")[0] ?? "";
  const enter = `exec nsenter --user --net --preserve-credentials --target ${pid} ip "$@"`;
  // The real `ip`, not this script again.
  const good = () => ip.write(`PATH="${environment.PATH}"\n${enter}`);
  good();
  const asked = join(folder, "asked");
  const namespaceOf = (process: string) => {
    try {
      return readlinkSync(`/proc/${process}/ns/net`);
    } catch {
      return "";
    }
  };
  const fault = (title: string, script: string, because: RegExp) => ({
    ...{ title, because, begin: () => ip.write(script) },
  });
  const open = () => readdirSync("/proc").filter((each) => namespaceOf(each) === namespaceOf(pid)).length;
  const [none] = [open()];
  return {
    entry: () => "{ kind: interface }",
    device: "wan0",
    async say({ ipv4: [ipv4 = ""], ipv6: [ipv6 = ""] }) {
      good();
      await wan.readdress({ ipv4, ipv6 });
      return true;
    },
    faults: [
      fault("fails", "echo 'Cannot open netlink socket' >&2; exit 1", /cannot be read: .*netlink socket/),
      fault("prints something else", "echo '[{}, 7]'", /cannot parse the output/),
      fault("is cut off", `echo '[{"ifname":'`, /cannot parse the output/),
      // Which limit comes first depends on the machine.
      fault("never stops", "exec cat /dev/zero", /maxBuffer|timed out/),
    ],
    stall: () => ip.write(`echo >> ${asked}; exec sleep 60`),
    stalled: () => (existsSync(asked) ? readFileSync(asked, "utf8").length : 0),
    open: () => open() - none,
    async close() {
      ip.restore();
      await inside.close();
    },
  };
}

/** Addresses that no kernel would accept, from a program that prints them as `ip` would. */
export function startFakeKernel(folder: string): SourceRig {
  const ip = replaceIp(folder);
  const fails = () => {
    throw new Error("only for the hostile table");
  };
  return {
    entry: () => "{ kind: interface }",
    device: "wan0",
    say({ ipv4, ipv6 }) {
      const addresses = [...ipv4.map((local) => ["inet", local, 24]), ...ipv6.map((local) => ["inet6", local, 64])];
      const addr_info = addresses.map(([family, local, prefixlen]) => ({ family, local, prefixlen }));
      writeFileSync(
        join(folder, "rows.json"),
        JSON.stringify([{ ifname: "wan0", flags: ["UP", "LOWER_UP"], addr_info }]),
      );
      ip.write(`exec cat ${folder}/rows.json`);
      return true;
    },
    faults: [],
    stall: fails,
    stalled: fails,
    open: () => 0,
    close: () => ip.restore(),
  };
}

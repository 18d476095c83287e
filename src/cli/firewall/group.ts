import { parseNetwork } from "../../core/addresses/network.ts";
import type { Group } from "../../firewall/access/users.ts";
import { nameFault } from "../../firewall/access/users.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printTable } from "../io/print-table.ts";
import { dataFlag } from "../io/try-lines.ts";
import { type InData, listed, noSuch, personHere, readPrivileges, withAccess } from "./user-access.ts";

export type GroupSettings = InData & {
  readonly privilege: readonly string[];
  readonly network: readonly string[];
  readonly join: readonly string[];
};

/** Creates the group if it is missing. The given privileges and networks replace the old ones. */
export async function groupSet(
  name: string,
  options: GroupSettings & { readonly leave: readonly string[]; readonly anyNetwork?: boolean },
  io: CommandIo,
): Promise<number> {
  const privileges = readPrivileges(options.privilege, io);
  const wrong = options.network.filter((text) => parseNetwork(text) === undefined);
  if (wrong.length > 0) io.err(`${wrong.join(", ")} is not a network; write it as 192.0.2.0/24 or 2001:db8::/32.\n`);
  if (privileges === undefined || wrong.length > 0) return 2;
  return withAccess(options, io, ({ groups, users, audit }) => {
    const unknown = [...options.join, ...options.leave].filter((user) => users.find(user) === undefined);
    if (unknown.length > 0) return noSuch("user", unknown.join(", "), options, io);
    const badName = groups.find(name) === undefined ? nameFault("group", name) : undefined;
    if (badName !== undefined) return refuse(2, badName, io);
    groups.add({ name, now: new Date() });
    groups.change(name, {
      ...(privileges.length > 0 && { privileges }),
      ...(options.network.length > 0 && { networks: options.network }),
      ...(options.anyNetwork && { networks: [] }),
    });
    for (const user of options.join) groups.join(name, user);
    for (const user of options.leave) groups.leave(name, user);
    const group = groups.find(name);
    if (group === undefined) return 1;
    audit.note(personHere(), "group set", `${name}: ${row(group).slice(1).join("; ")}`, new Date());
    io.out(printTable(heads, [row(group)]));
    return 0;
  });
}

export async function groupList(options: InData & { readonly json?: boolean }, io: CommandIo): Promise<number> {
  const all = await withAccess(options, io, ({ groups }) => groups.list());
  if (options.json) io.out(`${JSON.stringify(all, null, 2)}\n`);
  else if (all.length === 0)
    io.out(`There are no groups yet; create one with: ${io.program} group set ${dataFlag(options)} NAME\n`);
  else io.out(printTable(heads, all.map(row)));
  return 0;
}

export async function groupRemove(name: string, options: InData, io: CommandIo): Promise<number> {
  return withAccess(options, io, ({ groups, audit }) => {
    if (!groups.remove(name)) return noSuch("group", name, options, io);
    audit.note(personHere(), "group removed", name, new Date());
    io.out(`Removed group ${name}; its members stay.\n`);
    return 0;
  });
}

const heads = ["group", "privileges", "from", "members"];
const row = ({ name, privileges, networks, members }: Group): readonly string[] => [
  name,
  listed(privileges),
  networks.length === 0 ? "everywhere" : networks.join(", "),
  members.join(", "),
];

import { resolve } from "node:path";
import { passwordFault } from "../../access/password.ts";
import { createToken } from "../../access/secret.ts";
import { parseNetwork } from "../../core/addresses/network.ts";
import { shellWord } from "../../core/shell-word.ts";
import { isUtf16, withoutMark } from "../../core/utf8-text.ts";
import type { AccessStore } from "../../firewall/access/store.ts";
import { nameFault, type User, type UserChange } from "../../firewall/access/users.ts";
import { readFileIfThere } from "../../process/data-folder.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { NewOption } from "../io/options.ts";
import { minute, printList } from "../io/print-table.ts";
import { readDay } from "../io/read-day.ts";
import { dataFlag } from "../io/try-lines.ts";
import {
  type InData,
  listed,
  noSuch,
  personHere,
  readPrivileges,
  userState,
  withAccess,
  withNewAccess,
} from "./user-access.ts";

export type UserSettings = InData & {
  readonly fullName?: string;
  readonly privilege: readonly string[];
  readonly network: readonly string[];
  /** A day, or `never`. */
  readonly expires?: string;
};

export async function userAdd(name: string, options: UserSettings & NewOption, io: CommandIo): Promise<number> {
  const change = readChange(options, io);
  if (change === undefined) return 2;
  if (change.expires instanceof Date && change.expires.getTime() <= Date.now()) {
    io.err(
      `${options.expires} is in the past; give the last day on which the user and their keys are valid, or never.\n`,
    );
    return 2;
  }
  const wrong = nameFault(name);
  if (wrong !== undefined) return refuse(2, wrong, io);
  return withNewAccess(options, io, ({ users, audit }) => {
    if (!users.add({ ...change, name, now: new Date() })) {
      io.err(`User ${name} already exists; to change it: ${io.program} user change ${dataFlag(options)} ${name}\n`);
      return 1;
    }
    audit.note(personHere(), "user added", described(name, change), new Date());
    const line = `key add ${dataFlag(options)} --user ${shellWord(name)}`;
    io.out(`Created user ${name}. To create a key: ${io.program} ${line}\n`);
    return 0;
  });
}

export type UserChanges = UserSettings & {
  readonly anyNetwork?: boolean;
  readonly disable?: boolean;
  readonly enable?: boolean;
};

/** The given privileges and networks replace the old ones. */
export async function userChange(name: string, options: UserChanges, io: CommandIo): Promise<number> {
  const read = readChange(options, io);
  if (read === undefined) return 2;
  const change = {
    ...read,
    ...(options.anyNetwork && { networks: [] }),
    ...(options.disable && { disabled: true }),
    ...(options.enable && { disabled: false }),
  };
  if (Object.keys(change).length === 0)
    return refuse(
      2,
      "There is nothing to change; give --privilege, --network, --any-network, --full-name, --expires, --disable or --enable.",
      io,
    );
  return withUser(name, options, io, ({ users, audit }) => {
    users.change(name, change);
    audit.note(personHere(), "user changed", described(name, change), new Date());
    io.out(`Changed user ${name}.\n`);
    return 0;
  });
}

export async function userRemove(name: string, options: InData, io: CommandIo): Promise<number> {
  return withUser(name, options, io, async ({ users, audit, sessions, passkeys }) => {
    users.remove(name);
    await sessions.removeAll(name);
    await passkeys.removeAll(name);
    audit.note(personHere(), "user removed", name, new Date());
    io.out(`Removed user ${name} and their keys.\n`);
    return 0;
  });
}

/** Without a file, creates a password and shows it once. */
export async function userPassword(
  name: string,
  options: InData & { readonly from?: string },
  io: CommandIo,
): Promise<number> {
  const text = options.from === undefined ? undefined : await readFileIfThere(resolve(io.cwd, options.from));
  const firstLine = text === undefined ? undefined : withoutMark(text).split(/\r?\n/)[0];
  if (options.from !== undefined && text === undefined)
    return refuse(2, `There is no file ${options.from}; create it, or omit --from to get a new password.`, io);
  if (text !== undefined && isUtf16(text)) return refuse(2, `${options.from} is not UTF-8; save it as UTF-8.`, io);
  const weak = options.from === undefined ? undefined : passwordFault(firstLine, name);
  if (weak !== undefined) return refuse(2, `${options.from} must contain the password in its first line. ${weak}`, io);
  return withUser(name, options, io, async ({ users, audit, sessions }) => {
    const password = firstLine ?? createToken(20);
    await users.setPassword(name, password);
    await sessions.removeAll(name);
    audit.note(personHere(), "password set", name, new Date());
    if (firstLine === undefined) {
      io.err(`The new password of ${name}; this is the only time it is shown:\n`);
      io.out(`${password}\n`);
    } else io.out(`User ${name} has a new password.\n`);
    return 0;
  });
}

export async function userList(options: InData & { readonly json?: boolean }, io: CommandIo): Promise<number> {
  const all = await withAccess(options, io, ({ users }) => users.list());
  const none = `There are no users yet; create one with: ${io.program} user add ${dataFlag(options)} NAME`;
  const heads = ["user", "privileges", "from", "password", "expires", "state"];
  return printList({ json: options.json, forPrograms: all, heads, rows: all.map(row), none }, io);
}

export async function userLog(options: InData & { readonly most: number }, io: CommandIo): Promise<number> {
  const entries = await withAccess(options, io, ({ audit }) => audit.latest(options.most));
  const rows = entries.map(({ at, actor, source, action, subject }) => [minute(at), actor, source, action, subject]);
  const heads = ["when", "who", "from", "action", "subject"];
  return printList({ json: false, forPrograms: [], heads, rows, none: "Nothing has been changed yet." }, io);
}

async function withUser(
  name: string,
  options: InData,
  io: CommandIo,
  work: (access: AccessStore) => number | Promise<number>,
): Promise<number> {
  return withAccess(options, io, (access) => {
    return access.users.find(name) === undefined ? noSuch("user", name, options, io) : work(access);
  });
}

function readChange({ fullName, privilege, network, expires }: UserSettings, io: CommandIo): UserChange | undefined {
  const privileges = readPrivileges(privilege, io);
  const end = expires === undefined || expires === "never" ? expires : endOfDay(expires);
  if (end === null) io.err(`${expires} is not a day; write it as 2027-12-31, or never.\n`);
  const wrong = network.filter((text) => parseNetwork(text) === undefined);
  if (wrong.length > 0) io.err(`${wrong.join(", ")} is not a network; write it as 192.0.2.0/24 or 2001:db8::/32.\n`);
  if (privileges === undefined || end === null || wrong.length > 0) return undefined;
  return {
    ...(fullName !== undefined && { fullName }),
    ...(privilege.length > 0 && { privileges }),
    ...(network.length > 0 && { networks: network }),
    ...(end !== undefined && { expires: end }),
  };
}

/** In UTC. */
function endOfDay(text: string): Date | null {
  const start = readDay(text);
  return start === undefined ? null : new Date(start + 24 * 60 * 60 * 1000);
}

function described(name: string, change: UserChange): string {
  const { fullName, disabled, expires, privileges, networks } = change;
  return [
    name,
    ...(fullName === undefined ? [] : [`full name ${fullName}`]),
    ...(disabled === undefined ? [] : [disabled ? "disabled" : "enabled"]),
    ...(expires === undefined ? [] : [expires === "never" ? "never expires" : `expires ${minute(expires)}`]),
    ...(privileges === undefined ? [] : [`privileges: ${listed(privileges)}`]),
    ...(networks === undefined ? [] : [`from ${fromWhere(networks)}`]),
  ].join(", ");
}

const fromWhere = (networks: readonly string[]): string => (networks.length === 0 ? "anywhere" : networks.join(", "));

const row = (user: User): readonly string[] => [
  user.name,
  listed(user.privileges),
  fromWhere(user.networks),
  user.hasPassword ? "yes" : "no",
  user.expires === undefined ? "never" : minute(user.expires),
  userState(user),
];

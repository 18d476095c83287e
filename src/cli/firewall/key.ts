import { type ApiKey, type NewApiKey, shortKey } from "../../firewall/access/keys.ts";
import type { Privilege } from "../../firewall/access/privileges.ts";
import type { AccessStore } from "../../firewall/access/store.ts";
import type { User } from "../../firewall/access/users.ts";
import { shellWord } from "../../process/shell-word.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { minute, printTable } from "../io/print-table.ts";
import { dataFlag } from "../io/try-lines.ts";
import { placeOf, writeSecretOr } from "../io/write-secret.ts";
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

export type KeyAdd = InData & {
  /** A user that there is. */
  readonly user?: string;
  /** Otherwise a user of this name, made when missing. */
  readonly name: string;
  readonly privilege: readonly string[];
  readonly to?: string;
};

/** Shows or writes the key as OPNsense's download has it. */
export async function keyAdd(options: KeyAdd, io: CommandIo): Promise<number> {
  const place = placeOf(options, io);
  if (place === "taken") return 2;
  const wanted = readPrivileges(options.privilege, io);
  if (wanted === undefined) return 2;
  return withNewAccess(options, io, async (access) => {
    const made = makeKey(access, options, wanted);
    if (made === undefined) return noSuch("user", options.user ?? "", options, io);
    const text = `key=${made.key}\nsecret=${made.secret}\n`;
    if (place !== undefined) await writeSecretOr(() => access.keys.revoke(made.key, new Date()), place, text);
    access.audit.note(personHere(), "key added", `${shortKey(made.key)} of ${made.name}`, new Date());
    io.err(`Key ${shortKey(made.key)} (${made.name}): may ${inWords(made.privileges)}.\n`);
    const user = access.users.list().find(({ name }) => name === made.name);
    const state = user === undefined ? "good" : userState(user);
    if (state !== "good")
      io.err(
        `It is ${worth[state]}; mend that with: ${io.program} user change ${dataFlag(options)} ${shellWord(made.name)} ${mends[state]}\n`,
      );
    if (place === undefined) {
      io.err("This is the only time that its secret is shown:\n");
      io.out(text);
    } else io.err(`Written to ${options.to}\n`);
    return 0;
  });
}

/** A key of a named user opens what he may, unless privileges are named too; others open the interfaces unless told. */
function makeKey({ keys }: AccessStore, { user, name }: KeyAdd, wanted: readonly Privilege[]): NewApiKey | undefined {
  const now = new Date();
  if (user !== undefined) return keys.addFor(user, wanted.length === 0 ? undefined : wanted, now);
  return keys.add({ name, privileges: wanted.length === 0 ? ["interface-status"] : wanted, now });
}

export async function keyList(options: InData & { readonly json?: boolean }, io: CommandIo): Promise<number> {
  const { all, users } = await withAccess(options, io, (access) => ({
    all: access.keys.list(),
    users: new Map(access.users.list().map((user) => [user.name, user])),
  }));
  if (options.json) io.out(`${JSON.stringify(all.map(forPrograms), null, 2)}\n`);
  else if (all.length === 0)
    io.out(`There are no keys yet; make one with: ${io.program} key add ${dataFlag(options)}\n`);
  else
    io.out(
      printTable(
        ["key", "user", "may", "made", "state"],
        all.map((key) => row(key, users.get(key.name))),
      ),
    );
  return 0;
}

/** `key` is a key or enough of its beginning, as the list shows it. */
export async function keyRevoke(key: string, options: InData, io: CommandIo): Promise<number> {
  const outcome = await withAccess(options, io, ({ keys, audit }) => {
    const revocation = keys.revoke(key.replace(/…$/, ""), new Date());
    if (revocation.kind === "revoked")
      audit.note(personHere(), "key revoked", `${shortKey(revocation.key.key)} of ${revocation.key.name}`, new Date());
    return revocation;
  });
  switch (outcome.kind) {
    case "revoked":
      io.out(`Key ${shortKey(outcome.key.key)} (${outcome.key.name}) is revoked.\n`);
      return 0;
    case "already-revoked":
      io.err(`Key ${shortKey(outcome.key.key)} was revoked before, on ${minute(outcome.key.revoked)}.\n`);
      return 0;
    case "several":
      io.err(
        `${outcome.count} keys begin with ${key}; type more of the one you mean. ${io.program} key list ${dataFlag(options)} shows them.\n`,
      );
      return 1;
    case "too-short":
      return refuse(
        1,
        `${key} is too short; type the key, or its first eight characters at least. Nothing is revoked.`,
        io,
      );
    case "unknown":
      return noSuch("key", key, options, io);
    default:
      return outcome satisfies never;
  }
}

function inWords(privileges: readonly Privilege[]): string {
  if (privileges.includes("all")) return "do everything";
  if (privileges.length === 1 && privileges[0] === "interface-status") return "read the interfaces";
  return privileges.length === 0 ? "do nothing yet: its user holds no privilege" : `call: ${privileges.join(", ")}`;
}

const row = ({ key, name, privileges, created, revoked }: ApiKey, user: User | undefined): readonly string[] => [
  shortKey(key),
  name,
  listed(privileges),
  minute(created),
  revoked === undefined ? worth[user === undefined ? "good" : userState(user)] : "revoked",
];

/** A key is worth no more than its user. */
const worth = { good: "good", disabled: "void: its user is disabled", expired: "void: its user has expired" } as const;

const mends = { disabled: "--enable", expired: "--expires never" } as const;

const forPrograms = ({ key, name, privileges, created, revoked }: ApiKey) => ({
  key,
  name,
  privileges,
  created: created.toISOString(),
  revoked: revoked?.toISOString() ?? null,
});

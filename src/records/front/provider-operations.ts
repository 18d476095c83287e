import { providerKinds } from "../../contract/front.ts";
import { badInput, type Fault } from "../../core/result.ts";
import { checkKeyFile } from "../check-key-file.ts";
import { neverRead, operatorAccount, type StoredProvider, type Zone } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, denied, missing, type NotDone, type PermittedView, refused } from "../queries/permitted-view.ts";
import type { Signer } from "../signing/signer.ts";
import { accountFault, openAccount, type ProviderKind, sealedFor, tokenOf, usualUrls } from "./open-accounts.ts";

export type ProviderDraft = {
  readonly name: string;
  readonly kind: string;
  readonly token: string;
  readonly url: string | undefined;
  readonly ca: string | undefined;
};

/** `zones`: how many zones are published with it. */
export type ProviderView = Omit<StoredProvider, "sealed"> & { readonly zones: number; readonly service: string };

type Outcome = { readonly kind: "done"; readonly provider: ProviderView; readonly action: undefined } | NotDone;

/** The tokens of providers. No answer contains a token. */
export function providerOperations(options: RecordServiceOptions, permittedView: PermittedView) {
  const { store, now, signer } = options;
  const { obstacle, find, viewOf, renewed, zonesAt } = providerTools(options, permittedView);
  return {
    providers: async (actor: Actor): Promise<{ kind: "done"; providers: readonly ProviderView[] } | NotDone> => {
      const found = obstacle(actor);
      if (found) return found;
      const [all, zones] = await Promise.all([store.providers(actor.account), store.publishedZones(actor.account)]);
      const counts = Map.groupBy(zones, ([{ settings }]) => settings.published?.provider);
      return { kind: "done", providers: all.map((each) => shown(each, counts.get(each.id)?.length ?? 0)) };
    },

    addProvider: async (actor: Actor, draft: ProviderDraft): Promise<Outcome> => {
      const found = obstacle(actor);
      if (found) return found;
      const isOperator = (await store.account(operatorAccount))?.id === actor.account;
      const read = readDraft(draft, isOperator);
      if ("faults" in read) return refused(read.faults);
      if ((await store.providers(actor.account)).length >= mostProviders) return refused([tooMany]);
      const { name, kind, url, ca } = read;
      await checkKeyFile(store, signerOf(signer));
      const sealed = signerOf(signer).encryptText(sealedFor({ kind, url }), draft.token.trim());
      const added = await store.addProvider({ account: actor.account, name, kind, url, ca, sealed, created: now() });
      if (added === "name-taken") return refused([{ ...nameTaken, message: `there is already a provider ${name}` }]);
      return { kind: "done", provider: await viewOf(added), action: undefined };
    },

    replaceProviderToken: async (actor: Actor, key: string, token: string): Promise<Outcome> => {
      const account = obstacle(actor) ?? (await find(actor, key)) ?? missing("provider");
      if (!("id" in account)) return account;
      const fault = accountFault(account, token.trim());
      if (fault !== undefined) return refused([{ code: "bad-token", where: "token", message: fault }]);
      const replaced = now();
      await checkKeyFile(store, signerOf(signer), { replaces: true });
      const sealed = signerOf(signer).encryptText(sealedFor(account), token.trim());
      if (!(await store.replaceProviderToken(account.id, sealed, replaced))) return missing("provider");
      return { kind: "done", provider: await renewed({ ...account, replaced }), action: undefined };
    },

    removeProvider: async (actor: Actor, key: string): Promise<{ kind: "done" } | NotDone> => {
      const account = obstacle(actor) ?? (await find(actor, key)) ?? missing("provider");
      if (!("id" in account)) return account;
      const [zone] = await zonesAt(account);
      if (zone) return refused([{ ...inUse, message: `the zone ${zone.name} is published with it` }]);
      return (await store.removeProvider(account.id)) ? { kind: "done" } : missing("provider");
    },

    /** For other operations: the opened provider has to be closed. */
    openProviderFor: async (actor: Actor, key: string) => {
      const account = await find(actor, key);
      if (account === undefined) return undefined;
      const token = tokenOf(account, signerOf(signer));
      return {
        account,
        provider: await openAccount(account, () => token, { now, budget: options.budgets?.of(account) }),
      };
    },
  };
}

function providerTools({ store }: RecordServiceOptions, permittedView: PermittedView) {
  const zonesAt = async ({ id, account }: StoredProvider): Promise<readonly Zone[]> => {
    const zones = (await store.publishedZones(account)).map(([zone]) => zone);
    return zones.filter(({ settings }) => settings.published?.provider === id);
  };
  return {
    zonesAt,
    obstacle: (actor: Actor): NotDone | undefined => {
      const refusal = permittedView.refusal(actor, { kind: "administer" });
      return refusal && denied(refusal);
    },
    viewOf: async (account: StoredProvider): Promise<ProviderView> => shown(account, (await zonesAt(account)).length),
    /** Its token may be that of another account: its zones are read before a set is published there. */
    renewed: async (account: StoredProvider): Promise<ProviderView> => {
      const zones = await zonesAt(account);
      for (const { number } of zones) await store.notePublishedZone(number, { readAt: neverRead });
      return shown(account, zones.length);
    },
    /** By its name or id. */
    find: async (actor: Actor, key: string): Promise<StoredProvider | undefined> => {
      const all = await store.providers(actor.account);
      return all.find(({ name }) => name === key) ?? all.find(({ id }) => String(id) === key);
    },
  };
}

const shown = ({ sealed: _, ...account }: StoredProvider, zones: number): ProviderView => ({
  ...account,
  zones,
  service: serviceNames[account.kind as ProviderKind],
});

export type ProviderOperations = ReturnType<typeof providerOperations>;

function signerOf(signer: Signer | undefined): Signer {
  if (signer === undefined) throw new Error("this service has no key file to encrypt tokens with");
  return signer;
}

type ReadDraft = { name: string; kind: ProviderKind; url: string; ca: string | undefined };

function readDraft(draft: ProviderDraft, isOperator: boolean): ReadDraft | { readonly faults: readonly Fault[] } {
  const { name, token, ca } = draft;
  const kind = providerKinds.find((each) => each === draft.kind);
  if (kind === undefined) return { faults: [badInput("kind", `must be one of ${providerKinds.join(", ")}`)] };
  const url = draft.url ?? usualUrls[kind];
  const faults: Fault[] = [];
  if (!/^[\w.-]{1,60}$/.test(name) || /^\d+$/.test(name))
    faults.push(
      badInput("name", "must have 1 to 60 letters, digits, dots, hyphens or underscores, and a letter among them"),
    );
  // Requests to any address must not come from here for accounts of other people.
  if (!isOperator && (draft.url !== undefined || ca !== undefined || url === undefined))
    faults.push(badInput("url", "may be set only by the account of the operator"));
  if (url === undefined) faults.push(badInput("url", `is missing; ${kind} has no usual address`));
  const fault = url === undefined ? undefined : accountFault({ kind, url }, token.trim());
  if (fault !== undefined) faults.push({ code: "bad-token", where: fault.split(" ")[0] ?? "token", message: fault });
  return faults.length > 0 || url === undefined ? { faults } : { name, kind, url, ca };
}

const serviceNames: Readonly<Record<ProviderKind, string>> = {
  cloudflare: "Cloudflare",
  desec: "deSEC",
  "dns-update": "the nameserver",
  hetzner: "Hetzner",
  "hetzner-v1": "Hetzner",
  moor: "moor records",
  powerdns: "PowerDNS",
};

const nameTaken: Fault = {
  code: "set-exists",
  where: "name",
  message: "",
  todo: "choose another name, or replace the token of that one",
};

/** Per account. They are listed and searched as a whole. */
export const mostProviders = 100;

const tooMany: Fault = {
  code: "too-many-providers",
  where: "name",
  message: `an account may have ${mostProviders} providers`,
  todo: "remove those that no zone is published with",
};

const inUse: Fault = { code: "provider-in-use", where: "provider", message: "", todo: "unpublish its zones first" };

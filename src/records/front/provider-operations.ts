import { type ProviderKind, providerKinds, providerRow } from "../../contract/provider-kinds.ts";
import { overQuotaText, usualQuotas } from "../../core/quotas.ts";
import { badInput, type Fault } from "../../core/result.ts";
import { KeyedSemaphore } from "../../lib/limits/semaphore.ts";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import { isUsualUrl } from "../../providers/open-provider.ts";
import type { Provider } from "../../providers/provider.ts";
import { checkKeyFile } from "../check-key-file.ts";
import { neverRead, operatorAccount, type StoredProvider, type Zone } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, denied, missing, type NotDone, type PermittedView, refused } from "../queries/permitted-view.ts";
import type { Signer } from "../signing/signer.ts";
import { accountFault, openAccount, sealedFor, tokenFault, tokenOf } from "./open-accounts.ts";

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

/** Requests per account, and of all accounts, that ask a provider at a time: it may be slow, and zones are large. */
const mostAsking = { ofAccount: 4, all: 100 };

const tooManyAsk = "too many requests of this account ask a provider; send them one after the other";

export type Asking = <T>(actor: Actor, ask: () => Promise<T>) => Promise<T>;

export function limitAsking(): Asking {
  const permits = new KeyedSemaphore(mostAsking.all);
  return async ({ account }, ask) => {
    const permit = permits.tryAcquire([{ name: `${account}`, most: mostAsking.ofAccount }]);
    if (permit.kind === "full") throw new StoreBusy(tooManyAsk, { retryAfter: 10, isLogged: true });
    try {
      return await ask();
    } finally {
      permit.release();
    }
  };
}

/** The tokens of providers. No answer contains a token. */
export function providerOperations(options: RecordServiceOptions, permittedView: PermittedView, asking: Asking) {
  const { store, now, signer } = options;
  const tools = providerTools(options, permittedView);
  const { obstacle, find, renewed, zonesAt } = tools;
  const { openNew, openRenewed } = newAccounts(options, tools);
  const keepTried = async (opened: OpenedProvider | NotDone): Promise<Outcome> => {
    if ("kind" in opened) return opened;
    try {
      const fault = await tokenFault(opened.provider);
      if (fault !== undefined) return refused([fault]);
      const account = await opened.keep();
      return "id" in account ? { kind: "done", provider: await renewed(account), action: undefined } : account;
    } finally {
      opened.provider.close();
    }
  };
  return {
    providers: async (actor: Actor): Promise<{ kind: "done"; providers: readonly ProviderView[] } | NotDone> => {
      const found = obstacle(actor);
      if (found) return found;
      const [all, zones] = await Promise.all([store.providers(actor.account), store.publishedZones(actor.account)]);
      const counts = Map.groupBy(zones, ([{ settings }]) => settings.published?.provider);
      return { kind: "done", providers: all.map((each) => shown(each, counts.get(each.id)?.length ?? 0)) };
    },

    /** The token is tried first. */
    addProvider: (actor: Actor, draft: ProviderDraft): Promise<Outcome> =>
      asking(actor, async () => await keepTried(await openNew(actor, draft, false))),

    /** The new token is tried first. */
    replaceProviderToken: (actor: Actor, key: string, token: string): Promise<Outcome> =>
      asking(actor, async () => {
        const account = obstacle(actor) ?? (await find(actor, key)) ?? missing("provider");
        return "id" in account ? await keepTried(await openRenewed(account, token)) : account;
      }),

    removeProvider: async (actor: Actor, key: string): Promise<{ kind: "done" } | NotDone> => {
      const account = obstacle(actor) ?? (await find(actor, key)) ?? missing("provider");
      if (!("id" in account)) return account;
      const [zone] = await zonesAt(account);
      if (zone) return refused([{ ...inUse, message: `the zone ${zone.name} is published with it` }]);
      return (await store.removeProvider(account.id)) ? { kind: "done" } : missing("provider");
    },

    /** For other operations: the opened provider has to be closed. */
    openProviderFor: async (actor: Actor, source: ProviderSource): Promise<OpenedProvider | NotDone> => {
      if (source.draft !== undefined) return await openNew(actor, { ...source.draft, name: source.name });
      const account = await find(actor, source.name);
      if (account === undefined)
        return refused([badInput("provider", `${source.name} is not a provider of this account`)]);
      const token = tokenOf(account, signerOf(signer));
      const provider = await openAccount(account, () => token, { now, budget: options.budgets?.of(account) });
      return { provider, name: account.name, keep: async () => account };
    },
  };
}

/** A provider of the account, or one that is stored only when its token was tried. */
export type ProviderSource = { readonly name: string; readonly draft?: Omit<ProviderDraft, "name"> | undefined };

/** A zone that is to be published. */
export type ToPublish = {
  readonly provider: ProviderSource;
  /** The zone is created if it is not here. */
  readonly create: boolean;
};

export type OpenedProvider = {
  readonly provider: Provider;
  readonly name: string;
  /** Stores the account, if it is new, or its new token. */
  readonly keep: () => Promise<StoredProvider | NotDone>;
};

/** Opens accounts whose token is not stored yet. */
function newAccounts(options: RecordServiceOptions, { obstacle }: ReturnType<typeof providerTools>) {
  const { store, now, signer, mostProviders = usualQuotas.providers } = options;
  const seal = (account: Pick<StoredProvider, "kind" | "url">, token: string) =>
    signerOf(signer).encryptText(sealedFor(account), token);
  const openRenewed = async (account: StoredProvider, typed: string): Promise<OpenedProvider | NotDone> => {
    const token = typed.trim();
    const fault = accountFault(account, token);
    if (fault !== undefined) return refused([{ code: "bad-token", where: "token", message: fault }]);
    await checkKeyFile(store, signerOf(signer), { replaces: true });
    return {
      provider: await openAccount(account, () => token, { now }),
      name: account.name,
      keep: async () => {
        const [sealed, replaced] = [seal(account, token), now()];
        return (await store.replaceProviderToken(account.id, sealed, replaced))
          ? { ...account, sealed, replaced }
          : missing("provider");
      },
    };
  };
  /** A token for a name that is in use at the same service replaces the old one. */
  const openNew = async (actor: Actor, draft: ProviderDraft, replaces = true): Promise<OpenedProvider | NotDone> => {
    const found = obstacle(actor);
    if (found) return found;
    const isOperator = (await store.account(operatorAccount))?.id === actor.account;
    const read = readDraft(draft, isOperator);
    if ("faults" in read) return refused(read.faults);
    const { name, kind, url, ca } = read;
    const there = await store.providers(actor.account);
    const same = there.find((each) => each.name === name);
    if (same && replaces && isSameService(same, read)) return await openRenewed(same, draft.token);
    if (same) return refused([nameTaken(same)]);
    if (there.length >= mostProviders) return refused([tooMany(mostProviders)]);
    const token = draft.token.trim();
    await checkKeyFile(store, signerOf(signer));
    return {
      provider: await openAccount({ kind, url, ca }, () => token, { now }),
      name,
      keep: async () => {
        const sealed = seal({ kind, url }, token);
        const added = await store.addProvider({ account: actor.account, name, kind, url, ca, sealed, created: now() });
        return added === "name-taken" ? refused([nameTaken({ name, kind, url })]) : added;
      },
    };
  };
  return { openNew, openRenewed };
}

const isSameService = (a: Pick<StoredProvider, "kind" | "url">, b: Pick<StoredProvider, "kind" | "url">): boolean =>
  a.kind === b.kind && a.url.replace(/\/$/, "") === b.url.replace(/\/$/, "");

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
  service: providerRow(account.kind as ProviderKind).service,
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
  const url = draft.url ?? providerRow(kind).url;
  const faults: Fault[] = [];
  if (!/^[\w.-]{1,60}$/.test(name) || /^\d+$/.test(name))
    faults.push(
      badInput("name", "must have 1 to 60 letters, digits, dots, hyphens or underscores, and a letter among them"),
    );
  // Requests to any address must not come from here for accounts of other people.
  if (!isOperator && (url === undefined || ca !== undefined || (draft.url !== undefined && !isUsualUrl(kind, url))))
    faults.push(badInput("url", "may be set only by the account of the operator"));
  if (url === undefined) faults.push(badInput("url", `is missing; ${kind} has no usual address`));
  const fault = url === undefined ? undefined : accountFault({ kind, url }, token.trim());
  if (fault !== undefined) faults.push({ code: "bad-token", where: fault.split(" ")[0] ?? "token", message: fault });
  return faults.length > 0 || url === undefined ? { faults } : { name, kind, url, ca };
}

const nameTaken = ({ name, kind, url }: Pick<StoredProvider, "name" | "kind" | "url">): Fault => ({
  code: "set-exists",
  where: "name",
  message: `there is already a provider ${name} (${kind}, ${url})`,
  todo: "choose another name, or replace the token of that one",
});

const tooMany = (most: number): Fault => ({
  code: "too-many-providers",
  where: "name",
  message: overQuotaText("providers", most),
});

const inUse: Fault = { code: "provider-in-use", where: "provider", message: "", todo: "unpublish its zones first" };

import type { DelegationState } from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import type { Delegation, FindDelegation } from "../../lib/dns/delegation.ts";
import { BoundedMap } from "../../lib/limits/bounded-map.ts";
import { KeyedSemaphore } from "../../lib/limits/semaphore.ts";

/** Milliseconds that an answer is kept. */
const keep = 30_000;
const mostKept = 1_000;
/** Zones that are checked at the same time. */
const most = { all: 8, ofAccount: 2 };
/** Milliseconds for all questions about one zone. */
const patience = 8_000;

type CachedDelegation = { readonly at: Instant; readonly delegation: Promise<Delegation> };

/**
 * Whether zones are delegated to our nameservers. Answers are kept for a while, and only a few zones are checked at a
 * time.
 */
export function createDelegationChecks(find: FindDelegation, nameservers: readonly string[], now: () => Instant) {
  const cachedDelegations = new BoundedMap<string, CachedDelegation>(mostKept);
  const permits = new KeyedSemaphore(most.all);

  const ask = (zone: string, account: number): CachedDelegation | undefined => {
    const permit = permits.tryAcquire([{ name: `account ${account}`, most: most.ofAccount }]);
    if (permit.kind === "full") return undefined;
    const delegation = find(zone, AbortSignal.timeout(patience)).finally(permit.release);
    const entry = { at: now(), delegation };
    cachedDelegations.set(zone, entry);
    return entry;
  };

  return async (zone: string, account: number): Promise<DelegationState> => {
    const before = cachedDelegations.get(zone);
    const entry = before && now() - before.at < keep ? before : ask(zone, account);
    const delegation = await entry?.delegation;
    const checkedAt = new Date(entry?.at ?? now()).toISOString();
    const unknown = { status: "unknown", servers: [], asked: checkedAt } as const;
    if (delegation === undefined)
      return { ...unknown, because: "other zones are being checked; try again in a moment" };
    if (delegation.kind === "unknown") return { ...unknown, because: delegation.because };
    if (delegation.kind === "none") return { status: "none", servers: [], asked: checkedAt, because: null };
    return {
      status: statusOf(delegation.servers, nameservers),
      servers: delegation.servers,
      asked: checkedAt,
      because: null,
    };
  };
}

function statusOf(servers: readonly string[], own: readonly string[]): DelegationState["status"] {
  const ours = servers.filter((server) => own.includes(server));
  if (ours.length === 0) return "elsewhere";
  return ours.length === own.length && servers.length === own.length ? "valid" : "partial";
}

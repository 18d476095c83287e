import { beginsAfter, type SignedName } from "../../../core/dnssec/signed-name.ts";
import type { Instant } from "../../../core/instant.ts";
import type { Logger } from "../../../process/log.ts";
import type { Zone } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import { clockTolerance, isFarBehind, renewal, signedAt } from "../signer.ts";
import { renewNamesRule } from "./renew.ts";

export type RenewalOptions = { readonly store: RecordStore; readonly now: () => Instant; readonly log: Logger };

/** When signatures from a clock that was ahead were replaced (`at`), and the time by that clock (`last`). */
export type LastReSigning = { readonly at: Instant; readonly last: Instant };

const namesAtOnce = 200;

/**
 * A few names at a time, so that other writes do not wait long. A zone that cannot be signed does not delay the others.
 */
export async function renewSignatures({ store, now, log }: RenewalOptions, signal: AbortSignal): Promise<void> {
  const failed = new Set<number>();
  const tried = new Map<number, string>();
  while (!signal.aborted) {
    const due = await store.expiringNames(now() + renewal * 1000, namesAtOnce, [...failed]);
    if (due.length === 0) break;
    for (const { zone, owners, first } of due) {
      const names = owners.join(" ");
      // If the same names are due again, nothing was renewed.
      const isDone =
        tried.get(zone.number) !== names &&
        (await renew(store, zone, owners, now())
          .then(() => true)
          .catch((error: unknown) =>
            log.error({ err: error, zone: zone.name, expires: new Date(first) }, "signatures could not be renewed"),
          ));
      tried.set(zone.number, names);
      if (!isDone) failed.add(zone.number);
    }
  }
}

/** Signs these names again. */
async function renew(store: RecordStore, zone: Zone, owners: readonly string[], now: Instant): Promise<void> {
  await store.run({ kind: "renew-names", account: zone.account, zone: zone.id, owners, now }, renewNamesRule);
  await store.signed();
}

/** Comes just before the apex (@) in the order of owners; no owner begins with it. */
const beforeApex = "?";

/**
 * If the clock was ahead, names have signatures that are not valid yet. They are replaced with signatures that are
 * valid by both clocks, unless the clock is `far-behind`: then nothing may be done to the zone.
 */
export async function reSignAfterClock(
  { store, now, log }: RenewalOptions,
  zone: Zone,
  before: LastReSigning | undefined,
): Promise<LastReSigning | "far-behind" | undefined> {
  const [apex] = await store.signedNames(zone, beforeApex, 1);
  if (isFarBehind(apex, now())) return "far-behind";
  const last = signedAt(apex);
  const isDone = before !== undefined && before.last === last && before.at <= now();
  if (isDone || last <= now() + clockTolerance * 1000) return before;
  log.error(
    { zone: zone.name, now: new Date(now()), last: new Date(last) },
    "the last signatures of a zone are from the future: the clock was ahead then, or is behind now; check it. Signatures that are not valid yet are being replaced",
  );
  for (let after: string | undefined; ; ) {
    const names: readonly SignedName[] = await store.signedNames(zone, after, namesAtOnce);
    const owners = names.filter((name) => beginsAfter(name, now() / 1000)).map(({ owner }) => owner);
    if (owners.length > 0) await renew(store, zone, owners, now());
    if (names.length < namesAtOnce) break;
    after = names.at(-1)?.owner;
  }
  return { at: now(), last };
}

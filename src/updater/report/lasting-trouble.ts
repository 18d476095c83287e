import type { Notice, Notify } from "./reporter.ts";

export type LastingTrouble = {
  readonly notify: Notify;
  /** Drops trouble with anything that is no longer in the config, without a notice that it is over. */
  forget(isGone: (key: string) => boolean): void;
  close(): void;
};

/** All trouble with one cause: one notice when it begins, one when it ends. */
type Outage = {
  readonly cause: string;
  /** What is failing, by its key. */
  readonly failing: Map<string, Notice>;
  /** The names of everything that was failing when people were notified, or has failed since. */
  readonly names: Set<string>;
  /** Undefined after people were notified. */
  timer: NodeJS.Timeout | undefined;
};

/**
 * Notifies people of a failure after it has lasted for `patience` ms. A shorter one, such as a service restart, is not
 * worth getting up for. A dead service causes one notice, however many names it affects.
 */
export function onlyLasting(notify: Notify, patience: number): LastingTrouble {
  const outages = new Map<string, Outage>();
  const outageOf = (key: string) => [...outages.values()].find(({ failing }) => failing.has(key));

  const begin = (cause: string, isNotified: boolean): Outage => {
    const outage: Outage = { cause, failing: new Map(), names: new Set(), timer: undefined };
    if (!isNotified) outage.timer = setTimeout(() => notifyLasting(outage), patience).unref();
    outages.set(cause, outage);
    return outage;
  };
  const notifyLasting = (outage: Outage) => {
    outage.timer = undefined;
    outage.names.clear();
    for (const notice of outage.failing.values()) outage.names.add(nameIn(notice));
    const latest = [...outage.failing.values()].at(-1);
    if (latest) notify(aboutAll(latest, outage.names));
  };
  const remove = (outage: Outage, key: string): boolean => {
    outage.failing.delete(key);
    if (outage.failing.size > 0) return false;
    clearTimeout(outage.timer);
    return outages.delete(outage.cause);
  };

  const failing = (notice: Notice) => {
    const { key, cause = key } = notice;
    const before = outageOf(key);
    // People already know of it, and are notified of the new cause.
    const isKnown = before !== undefined && before.timer === undefined;
    if (before && before.cause !== cause) remove(before, key);
    const ownOutage = outages.get(cause);
    const outage = ownOutage ?? begin(cause, isKnown);
    outage.failing.set(key, notice);
    outage.names.add(nameIn(notice));
    const isAnother = ownOutage === undefined || cause === key;
    if (isKnown && isAnother && outage.timer === undefined) notify(aboutAll(notice, outage.names));
  };
  const over = (notice: Notice) => {
    const outage = outageOf(notice.key);
    if (!outage) return;
    const isKnownToPeople = outage.timer === undefined;
    if (remove(outage, notice.key) && isKnownToPeople) notify(aboutAll(notice, outage.names));
  };

  const forget: LastingTrouble["forget"] = (isGone) => {
    for (const outage of outages.values()) {
      for (const key of outage.failing.keys()) if (isGone(key)) remove(outage, key);
    }
  };

  return {
    forget,
    notify(notice) {
      if (notice.kind === "failing") failing(notice);
      else if (notice.kind === "over") over(notice);
      else notify(notice);
    },
    close: () => forget(() => true),
  };
}

const namesShown = 5;

const nameIn = ({ key, fields: { name = key } }: Notice) => name;

function aboutAll(notice: Notice, all: ReadonlySet<string>): Notice {
  if (all.size < 2) return notice;
  const [first = "", ...others] = all;
  const more = all.size - namesShown;
  const names = `${[...all].slice(0, namesShown).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  const fields = { ...notice.fields, name: `${first} and ${others.length} more`, records: String(all.size), names };
  const message = notice.kind === "over" ? `the problem with ${all.size} records is over` : notice.message;
  return { ...notice, message, fields };
}

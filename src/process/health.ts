import { within } from "./within.ts";

/** Returns what is wrong, or undefined if all is well. */
export type Check = () => string | undefined | Promise<string | undefined>;

export type Readiness = {
  readonly ready: boolean;
  readonly parts: Readonly<Record<string, { readonly ok: boolean; readonly because?: string }>>;
};

/** Whether a service can take requests: all parts that it needs for them are well, and it is not stopping. */
export type Health = {
  /** `isNeeded: false`: its trouble is shown, but the service is ready anyway. */
  readonly add: (part: string, check: Check, options?: { readonly isNeeded: boolean }) => void;
  readonly readiness: () => Promise<Readiness>;
  /** From now on it is not ready, whatever its parts say. */
  readonly stop: () => void;
};

/** Milliseconds that a check may take; after that, its part counts as failing. */
const patience = 2_000;
/** Milliseconds that a result is reused: anyone may ask, however often. */
const keptFor = 250;

export function createHealth(now = () => performance.now()): Health {
  const checks = new Map<string, Check>();
  const unneeded = new Set<string>();
  let stopping = false;
  let lastCheck: { readonly at: number; readonly parts: Promise<Readiness["parts"]> } | undefined;

  const checkAll = async (): Promise<Readiness["parts"]> => {
    const names = [...checks.keys()];
    const troubles = await Promise.all([...checks.values()].map(troubleOf));
    return Object.fromEntries(
      names.map((name, i) => {
        const because = troubles[i];
        return [name, because === undefined ? { ok: true } : { ok: false, because }];
      }),
    );
  };

  return {
    add: (part, check, { isNeeded } = { isNeeded: true }) => {
      checks.set(part, check);
      if (!isNeeded) unneeded.add(part);
      lastCheck = undefined;
    },
    readiness: async () => {
      if (lastCheck === undefined || now() - lastCheck.at > keptFor) lastCheck = { at: now(), parts: checkAll() };
      const parts = await lastCheck.parts;
      if (stopping)
        return { ready: false, parts: { ...parts, running: { ok: false, because: "the service is stopping" } } };
      const ready = Object.entries(parts).every(([name, { ok }]) => ok || unneeded.has(name));
      return { ready, parts: { ...parts, running: { ok: true } } };
    },
    stop: () => {
      stopping = true;
    },
  };
}

/** For unauthenticated callers: which part fails, but not why. */
export const withoutReasons = ({ ready, parts }: Readiness): Readiness => ({
  ready,
  parts: Object.fromEntries(Object.entries(parts).map(([name, { ok }]) => [name, { ok }])),
});

async function troubleOf(check: Check): Promise<string | undefined> {
  try {
    return await within(patience, Promise.try(check), `no answer within ${patience / 1_000} s`);
  } catch (error) {
    return (error as Error).message;
  }
}

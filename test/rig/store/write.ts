import type { NewZone } from "../../../src/records/model.ts";
import type {
  ActionRequest,
  ActionRule,
  Command,
  CreateActionRule,
  CreateRule,
  Decide,
  DecideAction,
  DecideAll,
  NewAction,
  RecordStore,
  RunningAction,
  WriteAllRule,
  WriteRequest,
  WriteRule,
} from "../../../src/records/store/port.ts";

type Runner = Pick<RecordStore, "run">;

/**
 * A command of the tests, which is not in the table of commands. It is too large for the thread that writes, which
 * would not find its rule, and small enough for a batch of PostgreSQL.
 */
const ofTests = { kind: "test", parts: 1_001 };

export const writeTo = <T>(store: Runner, request: WriteRequest, decide: Decide<T>): Promise<T | undefined> =>
  store.run(ofTests, (): WriteRule<T> => ({ kind: "write", request, decide })) as Promise<T | undefined>;

export const writeAllTo = <T>(store: Runner, requests: readonly WriteRequest[], decide: DecideAll<T>): Promise<T> =>
  store.run(ofTests, (): WriteAllRule<T> => ({ kind: "write-all", requests, decide })) as Promise<T>;

type How = { readonly by?: Command["actor"]; readonly running?: RunningAction; readonly isTrial?: boolean };

export const actOn = <T>(
  store: Runner,
  request: ActionRequest,
  decide: DecideAction<T>,
  { by, running, isTrial }: How = {},
) => store.run({ ...commandOf(by), isTrial }, (): ActionRule<T> => ({ kind: "action", request, decide }), running);

const commandOf = (actor: Command["actor"]): Command => (actor ? { ...ofTests, actor } : ofTests);

export const createZoneIn = (store: Runner, zone: NewZone, actor: string, by?: Command["actor"], isTrial?: boolean) =>
  store.run({ ...commandOf(by), isTrial }, (): CreateRule => ({ kind: "create", zone, actor }));

export const createZoneActionIn = (store: Runner, zone: NewZone, given: NewAction) =>
  store.run(ofTests, (): CreateActionRule => ({ kind: "create-action", zone, action: given }));

import { afterAll, afterEach } from "vitest";
import { explainTimeouts, type Failure, forgetEnded } from "./involved-processes.ts";

forgetEnded();

afterEach(({ task }) => explainTimeouts(task.result?.errors ?? []));
// What `beforeAll` has waited for in vain is a failure of the suite.
// oxlint-disable-next-line no-empty-pattern -- vitest reads the names of fixtures from the pattern
afterAll(({}, file) => explainTimeouts(failuresOf(file)));

type Suite = { readonly result?: { readonly errors?: readonly Failure[] }; readonly tasks?: readonly Suite[] };

const failuresOf = ({ result, tasks = [] }: Suite): readonly Failure[] => [
  ...(result?.errors ?? []),
  ...tasks.flatMap(failuresOf),
];

import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Tests under `test/` mostly wait for processes and pages, those under `src/` mostly compute: mixing them keeps all
 * processors busy. Each kind starts with its longest files, judged by an earlier run or by their size, and has started
 * its last one when the fraction `over` of the files has been started. The second half under `src/` takes seconds in
 * all, so what may take a minute has to start before it.
 */
const kinds = [
  { files: /\/test\/browser\//, over: 0.35 },
  { files: /\/test\//, over: 0.5 },
  { files: /\/(?:src|console)\//, over: 1 },
] as const;

export default class WaitingBesideComputing extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longestFirst = (await super.sort(files)).toSorted((one, other) => runsSuite(other) - runsSuite(one));
    const kindOf = ({ moduleId }: TestSpecification) => kinds.findIndex((kind) => kind.files.test(moduleId));
    const placed = Object.entries(Object.groupBy(longestFirst, kindOf)).flatMap(([kind, same = []]) =>
      same.map((file, rank) => ({ file, place: (rank / same.length) * (kinds[Number(kind)]?.over ?? 1) })),
    );
    return placed.toSorted((one, other) => one.place - other.place).map(({ file }) => file);
  }
}

/** 1 if the file runs one of the suites, which are elsewhere: it is longer than its size says. */
const runsSuite = ({ moduleId }: TestSpecification): number =>
  Number(/[.-]suite\.ts"/.test(readFileSync(moduleId, "utf8")));

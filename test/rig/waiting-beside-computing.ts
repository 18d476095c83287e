import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Tests under `test/` mostly wait for processes and pages, those under `src/` mostly compute: mixing them keeps all
 * processors busy. Each kind starts with its longest files, judged by an earlier run or by their size, and ends after
 * the fraction `over` of the run: a page may take a minute, so only short files should be left at the end.
 */
const kinds = [
  { files: /\/test\/browser\//, over: 0.5 },
  { files: /\/test\//, over: 0.8 },
  { files: /\/(?:src|console)\//, over: 1 },
] as const;

export default class WaitingBesideComputing extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longestFirst = await super.sort(files);
    const kindOf = ({ moduleId }: TestSpecification) => kinds.findIndex((kind) => kind.files.test(moduleId));
    const placed = Object.entries(Object.groupBy(longestFirst, kindOf)).flatMap(([kind, same = []]) =>
      same.map((file, rank) => ({ file, place: (rank / same.length) * (kinds[Number(kind)]?.over ?? 1) })),
    );
    return placed.toSorted((one, other) => one.place - other.place).map(({ file }) => file);
  }
}

import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Tests under `test/` mostly wait for processes, those under `src/` mostly compute: mixing them keeps all processors
 * busy. Each kind starts with its longest files, so that only short ones are left at the end of the run.
 */
export default class WaitingBesideComputing extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longestFirst = await super.sort(files);
    const kinds = Object.values(Object.groupBy(longestFirst, ({ moduleId }) => String(/\/src\//.test(moduleId))));
    const placed = kinds.flatMap((kind = []) => kind.map((file, rank) => ({ file, place: rank / kind.length })));
    return placed.toSorted((one, other) => one.place - other.place).map(({ file }) => file);
  }
}

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { isLongRun } from "./test/rig/long-run.ts";
import { patience, testLimit } from "./test/rig/patience.ts";
import WaitingBesideComputing from "./test/rig/waiting-beside-computing.ts";

/** `npm run test:faults` has them. The rules they try under load have shorter tests, which are named here. */
const onlyInLongRuns = [
  // together.test.ts; nodes.test.ts and faults.test.ts of the PostgreSQL store
  "test/nodes/storm.test.ts",
  // whole-zone.test.ts of both stores interrupts each kind of work; kill.test.ts and kill-commands.test.ts kill -9
  "test/nodes/kill-whole-zone.test.ts",
  "test/store/kill-whole-zone.test.ts",
  // whole-zone.test.ts of the SQLite store, which signs a zone while others write, and interrupts that
  "src/records/store/sqlite/signed/presign.test.ts",
  // records-live.test.ts
  "test/browser/many-tabs.test.ts",
  // hostile.test.ts and outage.test.ts of the updater try the same troubles within one process; only kill -9 is not
  // among them
  "test/e2e/firewall-faults.test.ts",
  "test/e2e/records-faults.test.ts",
  // Counts the steps of everyday work; records-table, -token-form and -history do the same work.
  "test/browser/console-journeys.test.ts",
  // packed.test.ts: the same story with the npm package; npm run test:packages has the single file on a clean root too
  "test/packaging/single-file.test.ts",
];

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "console/**/*.test.ts", "test/**/*.test.ts"],
    // The packages need root, and minutes: npm run test:packages
    exclude: ["test/packages/**", ...(isLongRun ? [] : onlyInLongRuns)],
    globalSetup: ["test/rig/own-temporary-folder.ts"],
    setupFiles: ["test/rig/seeded-laws.ts", "test/rig/explain-timeouts.ts"],
    testTimeout: testLimit,
    // A hook may build the pages, or start a database and three nameservers.
    hookTimeout: 3 * testLimit,
    teardownTimeout: testLimit,
    expect: { poll: { timeout: patience, interval: 20 } },
    // Starting a process and reading the modules anew for each file would take longer than the tests in most of them.
    isolate: false,
    // A worker lives for minutes. With more room for its garbage, it takes a twentieth less processor time.
    execArgv: ["--max-semi-space-size=64"],
    // Half of the time goes by waiting for processes, sockets and pages: with two workers per processor, a third of the
    // processor time of a run was unused. A port range is kept for each of eight workers.
    maxWorkers: Math.min(8, 3 * availableParallelism()),
    sequence: { sequencer: WaitingBesideComputing },
  },
});

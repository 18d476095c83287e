import { defineConfig } from "vitest/config";
import { patience } from "./test/rig/patience.ts";

export default defineConfig({
  test: {
    globalSetup: ["test/rig/own-temporary-folder.ts"],
    setupFiles: ["test/rig/seeded-laws.ts"],
    testTimeout: 4 * patience,
    hookTimeout: 4 * patience,
    teardownTimeout: patience,
    // What is waited for comes by itself; one second would be short on a busy machine.
    expect: { poll: { timeout: patience, interval: 20 } },
    // Most tests wait for processes and sockets: three fit on two cores.
    maxWorkers: 3,
    projects: [
      // Starting a process and reading the modules for each file would take longer than most of these tests.
      { extends: true, test: { name: "src", include: ["src/**/*.test.ts"], isolate: false } },
      { extends: true, test: { name: "test", include: ["test/**/*.test.ts"] } },
    ],
  },
});

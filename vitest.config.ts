import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: ["test/rig/own-temporary-folder.ts"],
    setupFiles: ["test/rig/seeded-laws.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    // What is waited for comes by itself; one second would be short on a busy machine.
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Most tests wait for processes and sockets: three fit on two cores.
    maxWorkers: 3,
    projects: [
      // Starting a process and reading the modules for each file would take longer than most of these tests.
      { extends: true, test: { name: "src", include: ["src/**/*.test.ts"], isolate: false } },
      { extends: true, test: { name: "test", include: ["test/**/*.test.ts"] } },
    ],
  },
});

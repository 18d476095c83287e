import { pathToFileURL } from "node:url";

/**
 * Runs commands of moor one after the other, and prints how each ended. `node test/rig/commands-process.ts PROGRAM
 * COMMAND...`, each command as a list of words in JSON. The program is loaded once, and only its first file is read
 * anew for each command.
 */
const [program = "", ...commands] = process.argv.slice(2);
const print = process.stdout.write.bind(process.stdout);
const said = { out: "", err: "" };
process.stdout.write = (text) => {
  said.out += String(text);
  return true;
};
process.stderr.write = (text) => {
  said.err += String(text);
  return true;
};
for (const [at, command] of commands.entries()) {
  process.argv = [process.execPath, program, ...(JSON.parse(command) as string[])];
  process.exitCode = 0;
  Object.assign(said, { out: "", err: "" });
  await import(`${pathToFileURL(program).href}?${at}`);
  print(`${JSON.stringify({ code: process.exitCode, signal: null, ...said })}\n`);
}
process.exit(0);

import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { administer, startMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace, repository } from "../rig/namespace.ts";
import { patience } from "../rig/patience.ts";
import { openRecordsApi, type RecordsApi } from "../rig/records-api.ts";
import type { StartedProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

/** The setup of docs/nameservers.md, running: its addresses on a separate loopback, its files at their real paths. */
export type Lab = {
  readonly inside: Namespace;
  readonly api: RecordsApi;
  readonly moor: StartedProcess;
  /** Runs a command of moor on the same data. */
  readonly administer: (...words: readonly string[]) => Promise<void>;
  readonly restartMoor: (whileDown?: () => Promise<void>) => Promise<void>;
  readonly startServer: (name: ServerName) => Promise<StartedProcess>;
  readonly dig: (server: Asked, ...words: readonly string[]) => Promise<string>;
  /** What `dig +short` prints for these questions, such as `www.example.org A`, at each server. */
  readonly answers: (names: readonly Asked[], ...questions: readonly string[]) => Promise<readonly string[]>;
  /** Waits until all servers give this answer. */
  readonly answerAll: (names: readonly Asked[], question: string, answer: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type ServerName = "knot" | "bind" | "nsd" | "powerdns";
type Asked = ServerName | "moor";

const addresses = { moor: "192.0.2.1", knot: "192.0.2.2", bind: "192.0.2.3", nsd: "192.0.2.4", powerdns: "192.0.2.5" };

const commands: Readonly<Record<ServerName, readonly [string, ...string[]]>> = {
  knot: ["knotd", "-c", "/etc/knot/knot.conf"],
  bind: ["named", "-g", "-n", "1", "-c", "/etc/bind/named.conf"],
  nsd: ["nsd", "-d", "-u", "", "-c", "/etc/nsd/nsd.conf"],
  powerdns: ["pdns_server", "--daemon=no", "--guardian=no"],
};

const emptied = ["/etc/knot", "/etc/bind", "/etc/nsd", "/etc/powerdns", "/run", "/var/cache/bind", "/var/lib/knot"];
const moreEmptied = ["/var/lib/nsd", "/var/lib/powerdns"];

type Block = { readonly language: string; readonly title: string; readonly text: string };

const blocks: readonly Block[] = [
  ...readFileSync(join(repository, "docs", "nameservers.md"), "utf8").matchAll(/^```(\w+) (\S+)\n([\s\S]*?)^```$/gm),
].map(([, language = "", title = "", text = ""]) => ({ language, title, text }));

const blockOf = (title: string): string => {
  const found = blocks.find((block) => block.title === title);
  if (found === undefined) throw new Error(`docs/nameservers.md has no block ${title}`);
  return found.text;
};

/** The lines of a shell block, with continued lines joined. */
const linesOf = (title: string): readonly string[] =>
  blockOf(title)
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line !== "");

/** Everyone can transfer the zones of these servers, so that a test can compare them. */
const givingZones = (text: string): string =>
  text
    .replace(/^acl:\n/m, "acl:\n  - id: readers\n    action: transfer\n")
    .replaceAll("acl: notices-from-moor", "acl: [notices-from-moor, readers]")
    .replace("recursion no;", "recursion no; allow-transfer { any; };")
    .replace(/^( +)allow-notify: .*\n/m, "$&$1provide-xfr: 0.0.0.0/0 NOKEY\n")
    .replace(/^secondary=yes\n/m, "$&allow-axfr-ips=192.0.2.0/24\n");

export async function openLab(): Promise<Lab> {
  const folder = mkdtempSync(join(tmpdir(), "moor-lab-"));
  const inside = await openNamespace({ emptied: [...emptied, ...moreEmptied] });
  await inside.ip(...Object.values(addresses).map((address) => `addr add ${address}/32 dev lo`));
  const shell = async (script: string) => {
    const { code, err } = await inside.run(["sh", "-ec", script]);
    if (code !== 0) throw new Error(`${script}: ${err}`);
  };
  await shell("mkdir -p /run/knot /run/named /run/nsd /run/pdns");
  for (const { title, text } of blocks.filter((block) => block.title.startsWith("/"))) {
    await shell(`cat > ${title} <<'END'\n${givingZones(text)}END`);
  }
  // If a primary takes five seconds to answer, Knot tries again only after an hour.
  await shell(`printf 'server:\\n    tcp-remote-io-timeout: ${patience}\\n' >> /etc/knot/knot.conf`);
  const data = join(folder, "data");
  const files = { tokenFile: join(folder, "token"), caFile: join(data, "ca.pem") };
  await administer(["token", "add", "--new", "--data", data, "--to", files.tokenFile]);
  for (const line of [...linesOf("keys"), ...linesOf("grants")]) {
    const words = line.split(" ").slice(1);
    // Only the namespace has the folders of the servers.
    const [to] = words.filter((word) => word.startsWith("/etc/"));
    const here = join(folder, "for-a-server");
    await administer([...words.map((word) => (word === to ? here : word)), "--data", data]);
    if (to !== undefined) await shell(`mv ${here} ${to}`);
  }

  const start = async () => {
    const [line = ""] = linesOf("moor");
    const process = startMoor(inside, [...line.split(/ +/).slice(1), "--data", data]);
    await process.says(/The nameserver listens on .*\n/);
    return process;
  };
  let moor = await start();
  const started = new Set<ServerName>();
  const services = { ...files, records: { url: "https://192.0.2.1:8053", process: moor } };

  const dig: Lab["dig"] = async (server, ...words) => {
    const { out } = await inside.run(["dig", `@${addresses[server]}`, "+tries=1", "+time=15", ...words]);
    return out.trim();
  };
  // In one process: entering the namespace and starting dig takes longer than an answer.
  const answers: Lab["answers"] = async (names, ...questions) => {
    const asked = names.flatMap((name) =>
      questions.flatMap((question) => {
        const [owner = "", type = ""] = question.split(" ");
        return [owner, `@${addresses[name]}`, type];
      }),
    );
    const { out } = await inside.run(["dig", "+tries=1", "+time=15", "+short", "+identify", ...asked]);
    const given = [...out.matchAll(/^(.*) from server (\S+) in \d+ ms\.$/gm)];
    const of = (name: Asked) => given.filter(([, , from]) => from === addresses[name]).map(([, answer]) => answer);
    return names.map((name) => of(name).join("\n"));
  };
  return {
    inside,
    api: openRecordsApi(inside, services, folder),
    get moor() {
      return moor;
    },
    dig,
    administer: async (...words) => {
      await administer([...words, "--data", data]);
    },
    restartMoor: async (whileDown) => {
      await moor.stop();
      await whileDown?.();
      moor = await start();
    },
    startServer: async (name) => {
      const first = !started.has(name);
      started.add(name);
      if (name === "powerdns" && first) await shell(blockOf("powerdns"));
      return inside.start(commands[name]);
    },
    answers,
    answerAll: async (names, question, answer) => {
      let last: readonly string[] = [];
      const holds = async () => {
        last = await answers(names, question);
        return last.every((each) => each === answer);
      };
      await until(holds, {
        every: 200,
        what: () => `${names.join(", ")} to answer ${question} with ${answer}, not ${last.join(", ")}`,
      });
    },
    close: () => inside.close(),
  };
}

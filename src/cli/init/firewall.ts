import type { CommandIo } from "../io/command-io.ts";
import { type Asker, WrongAnswer } from "./asker.ts";
import { type SetupEntry, secretFile, trustSettings } from "./files.ts";
import type { InitOptions } from "./options.ts";
import { isPath, readOptionFile, readTyped } from "./read-option-file.ts";
import { askUrl, type TrustAsker } from "./trust.ts";

/**
 * An OPNsense or `moor firewall`: the URL (`proposedUrl`, if one was discovered), and a key with its secret, which are
 * downloaded as one file.
 */
export async function askFirewall(
  options: InitOptions,
  proposedUrl: string | undefined,
  askTrust: TrustAsker,
  asker: Asker,
  io: CommandIo,
): Promise<SetupEntry> {
  const name = "firewall";
  const question = { flag: "--firewall", cliValue: options.firewall, message: "What is the URL of the firewall?" };
  const proposed = proposedUrl === undefined ? {} : { proposed: proposedUrl };
  const url = await askUrl({ ...question, ...proposed, example: "https://192.168.1.1" }, asker);
  const trust = trustSettings(name, await askTrust(url));
  const { key, secret } = await askKey(options, asker, io);
  const file = secretFile(name, "key.txt", `key=${key}\nsecret=${secret}`);
  return {
    name,
    settings: { url: url.href, ...trust.settings, keyFile: file.path },
    files: [file, ...trust.files],
  };
}

type KeyPair = { readonly key: string; readonly secret: string };

/** The answer may also be the path of the downloaded file, which contains both the key and its secret. */
async function askKey({ firewallKeyFile }: InitOptions, asker: Asker, io: CommandIo): Promise<KeyPair> {
  const flag = "--firewall-key-file FILE";
  const cliPair =
    firewallKeyFile === undefined
      ? undefined
      : pairIn(firewallKeyFile, readOptionFile("--firewall-key-file", firewallKeyFile, io));
  if (typeof cliPair === "string") throw new WrongAnswer(cliPair);
  const typedPair = (typed: string): KeyPair | string | undefined => {
    if (typed === cliPair?.key || !isPath(typed, io)) return undefined;
    const read = readTyped(typed, io);
    return "wrong" in read ? read.wrong : pairIn(typed, read.text);
  };
  const fault = (typed: string) => {
    const pair = typedPair(typed);
    return typeof pair === "string" ? `${pair} Type the key, or the path of the downloaded file.` : undefined;
  };
  const key = await asker.text({
    flag,
    cliValue: cliPair?.key,
    message: "The API key of a user of the firewall, or the path of its downloaded file?",
    fault,
  });
  const pair = typedPair(key);
  if (typeof pair === "object") return pair;
  const secret = await asker.secret({ flag, cliValue: cliPair?.secret, message: "The secret of that key?" });
  return { key: key.trim(), secret };
}

function pairIn(file: string, text: string): KeyPair | string {
  const half = (line: "key" | "secret") => new RegExp(`^${line}=(\\S+)`, "m").exec(text)?.[1];
  const [key, secret] = [half("key"), half("secret")];
  if (key !== undefined && secret !== undefined) return { key, secret };
  return `${file} has no line ${key === undefined ? "key" : "secret"}=…; use the file as downloaded from the firewall.`;
}

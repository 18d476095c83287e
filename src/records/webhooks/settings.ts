import { readFileSync } from "node:fs";
import { absoluteName, parseName } from "../../core/names/name.ts";
import { asAscii } from "../../core/names/unicode.ts";
import type { Result } from "../../core/result.ts";
import { isLoopbackName } from "../../lib/http/listen.ts";
import { mapping, needed } from "../../lib/settings/mapping.ts";
import { oneOrMore, path, readText, refined, text, typeInWords } from "../../lib/settings/setting.ts";
import type { LoggedChange } from "../model.ts";

/** Where changes of some names are sent. */
export type Webhook = {
  readonly url: URL;
  /** `home.example.org`, or `*.example.org` for all names below it. */
  readonly names: readonly string[];
  /** For the signature. */
  readonly secret: () => string;
};

const url = refined(
  text("The URL that receives a POST request.", "https://hooks.example.org/dns", { [typeInWords]: "URL" }),
  (written, { what, fault }) => {
    const parsed = URL.parse(written);
    const isSafe = parsed?.protocol === "https:" || (parsed?.protocol === "http:" && isLoopbackName(parsed.hostname));
    if (parsed && isSafe && !parsed.username && !parsed.password) return parsed;
    const todo = "write https://host/path; http:// is allowed for loopback only";
    return fault({ code: "bad-url", message: `${what} is not a usable URL`, todo });
  },
);

const name = refined(
  text("A name, or `*.` and a name for all names below it.", "home.example.org"),
  (written, { what, fault }) => {
    const parsed = parseName(asAscii(written.replace(/^\*\./, "").toLowerCase()));
    if (parsed.ok) return written.startsWith("*.") ? `*.${parsed.value}` : parsed.value;
    return fault({
      code: "bad-name",
      message: `${what} is not a name`,
      todo: "write home.example.org or *.example.org",
    });
  },
);

const secretFile = refined(path("A file with the secret that signs the requests.", "webhook-secret"), (file, place) => {
  const bad = (message: string) =>
    place.fault({ code: "bad-secret", message: `${place.what}: ${message}`, todo: "put at least 16 characters there" });
  try {
    const secret = readFileSync(place.reading.resolve(file), "utf8").trim();
    return secret.length < 16 ? bad(`${file} is too short`) : () => secret;
  } catch (error) {
    return bad(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
});

const webhooks = mapping(
  {
    webhooks: needed(
      oneOrMore(
        mapping(
          { url: needed(url), names: needed(oneOrMore(name, "name at least one")), secretFile: needed(secretFile) },
          { transform: ({ secretFile: secret, ...rest }): Webhook => ({ ...rest, secret }) },
        ),
      ),
    ),
  },
  { transform: ({ webhooks: all }) => all },
);

/** The file that `--webhooks` names. Paths in it are relative to `resolve`'s folder. */
export const readWebhooks = (
  content: string,
  file: string,
  resolve: (path: string) => string,
): Result<readonly Webhook[]> => readText(webhooks, content, file, { resolve });

/** Whether a change is one that the webhook is about. Settings of zones are not. */
export function concerns({ names }: Pick<Webhook, "names">, { zoneName, change }: LoggedChange): boolean {
  if (change.kind === "settings") return false;
  const changed = absoluteName(change.owner, zoneName);
  return names.some((each) => (each.startsWith("*.") ? changed.endsWith(each.slice(1)) : changed === each));
}

import { fail, type Result } from "../result.ts";
import { parseName } from "./name.ts";
import { parseTyped } from "./unicode.ts";

/**
 * A mail address as a name (RFC 1035, 3.3.12): dots before the `@` belong to the first label. A text without `@` is
 * read as a name.
 */
export function parseMailbox(text: string, where = "mail"): Result<string> {
  const [local = "", domain, ...more] = text.split("@");
  if (domain === undefined) return parseName(text, where);
  const host = parseTyped(parseName, domain, where);
  if (local === "" || more.length > 0 || !host.ok || host.value === "") return fail(notAnAddress(text, where));
  return parseName(`${local.replaceAll(/[\\.]/g, "\\$&")}.${host.value}`, where);
}

const notAnAddress = (text: string, where: string) => ({
  code: "bad-mailbox",
  where,
  message: `${text} is not a mail address`,
  todo: "use an address such as hostmaster@example.org",
});

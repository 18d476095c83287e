/** Secrets that could ride along in a logged request or config are replaced before a line is made. */
export const secretFields: readonly string[] = [
  "token",
  "secret",
  "password",
  "authorization",
  "auth-api-token",
  "cookie",
];
export const hidden = "(hidden)";

/** `10:32:07 warn  address could not be read  source=home because="connection refused"` */
export function textLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const clock = typeof time === "string" ? time.slice(11, 19) : "";
  const cause = err === undefined ? {} : { error: (err as { message?: unknown }).message ?? err };
  const rest = Object.entries({ ...fields, ...cause }).map(([key, value]) => ` ${key}=${textValue(value)}`);
  return `${clock} ${String(level).padEnd(5)} ${typeof msg === "string" ? msg : ""}${rest.length > 0 ? " " : ""}${rest.join("")}\n`;
}

function textValue(value: unknown): string {
  if (typeof value === "string") return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value);
}

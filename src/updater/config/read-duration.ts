import type { Spot, YamlReader } from "./yaml-reader.ts";

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `30s`, `5m`, `1h`, as milliseconds. */
export function readDuration(yaml: YamlReader, at: Spot, what: string): number | undefined {
  const text = yaml.text(at, what);
  if (text === undefined) return undefined;
  const [, digits = "", unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const duration = Number(digits) * (unitMs[unit] ?? 0);
  if (duration >= 1_000 && duration <= 24 * 3_600_000) return duration;
  const message = `${what} is no span of time from 1s to 24h: ${text}`;
  return yaml.fault(at, { code: "bad-duration", message, todo: "write it like 30s, 5m or 1h" });
}

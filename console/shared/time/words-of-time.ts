const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** "3 days 4 hours", "12 minutes": at most two units, the second only if it is not zero. */
export function durationInWords(milliseconds: number): string {
  let left = Math.max(0, milliseconds);
  const parts: string[] = [];
  for (const [name, length] of units) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? "" : "s"}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? "a moment" : parts.join(" ");
}

/** Without seconds after the first minute: pages are not drawn again every second. */
export const minutesInWords = (milliseconds: number): string =>
  durationInWords(milliseconds < 60_000 ? milliseconds : milliseconds - (milliseconds % 60_000));

export function agoInWords(at: number, now: number): string {
  return now - at < 5_000
    ? "just now"
    : `${durationInWords(now - at)
        .split(" ")
        .slice(0, 2)
        .join(" ")} ago`;
}

/** In the reader's own time zone. */
export const dayAndTime = (at: number): string =>
  new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

export const toSecond = (at: number): string =>
  new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

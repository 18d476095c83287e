import type { Instant } from "./instant.ts";

/**
 * An instant in UTC: `2021-02-05`, `12:57:21` and `941`. Most API responses contain times, and `Date` is several times
 * slower.
 */
export function utcText(instant: Instant): {
  readonly day: string;
  readonly time: string;
  readonly milliseconds: string;
} {
  const rest = ((instant % dayLength) + dayLength) % dayLength;
  const [hours, minutes, seconds] = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1000) % 60];
  return {
    day: dayText(instant - rest),
    time: `${two(hours)}:${two(minutes)}:${two(seconds)}`,
    milliseconds: String(rest % 1000).padStart(3, "0"),
  };
}

/** For people: `2021-02-05 12:57:21 UTC`. */
export function utcSecond(instant: Instant): string {
  const { day, time } = utcText(instant);
  return `${day} ${time} UTC`;
}

const dayLength = 86_400_000;
const twoDigits = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, "0"));
const two = (number: number): string => twoDigits[Math.trunc(number)] ?? "";

/** A cache: most times are from a few days. */
const dayTexts = new Map<Instant, string>();

function dayText(day: Instant): string {
  const cachedText = dayTexts.get(day);
  if (cachedText !== undefined) return cachedText;
  const text = new Date(day).toISOString().slice(0, 10);
  if (dayTexts.size >= 1000) dayTexts.clear();
  dayTexts.set(day, text);
  return text;
}

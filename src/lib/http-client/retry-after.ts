/** A Retry-After of more than a day is most likely a mistake. */
export const longestRetryAfter = 24 * 3_600_000;

/** RFC 9110, 10.2.3: seconds or a date, here as milliseconds from `now`; undefined when it is neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : dateIn(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestRetryAfter);
}

/** Only the HTTP date formats: JavaScript accepts far more. The oldest has no time zone, but means GMT. */
const dateIn = (text: string) => {
  if (!/^[A-Z][a-z]+,? .*\d{4}|^[A-Z][a-z]+, \d\d-/.test(text)) return Number.NaN;
  return Date.parse(/\d{4}$/.test(text) ? `${text} GMT` : text);
};

const most = 30;

/** Shortens a long list for a message that people read: the first items, and how many more there are. */
export function firstFew(texts: readonly string[], between = ", "): string {
  const left = texts.length - most;
  return left > 0 ? `${texts.slice(0, most).join(between)} and ${left} more` : texts.join(between);
}

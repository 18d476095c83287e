const most = 30;

/** Of a long list the beginning, and how many more there are: a message is read by people. */
export function firstFew(texts: readonly string[], between = ", "): string {
  const left = texts.length - most;
  return left > 0 ? `${texts.slice(0, most).join(between)} and ${left} more` : texts.join(between);
}

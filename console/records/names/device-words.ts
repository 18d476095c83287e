/**
 * What people call the program behind a token: pages name the token of a device `home.example.org (FRITZ!Box)`. The
 * closing bracket may be missing, because names of tokens have a limit.
 */
export const deviceWords = (token: string): string => /^\S+ \((.+?)\)?$/.exec(token)?.[1] ?? token;

/** Who wrote, without numbers: `token 5 (home.example.org (FRITZ!Box))` is the FRITZ!Box. */
export function actorWords(label: string): string {
  const token = /^token \d+ \((.*)\)$/.exec(label)?.[1];
  if (token !== undefined) return deviceWords(token);
  const person = /^(.*) \(console\)$/.exec(label)?.[1];
  return person === undefined ? label.replace(/^key /, "the key ") : `${person}, in the console`;
}

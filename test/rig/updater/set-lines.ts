/** Record sets as lines of text: `home 300 A 192.0.2.1`, one line per value. */
export type SetLine = { readonly name: string; readonly ttl: number; readonly type: string; readonly value: string };

export const readLine = (line: string): SetLine => {
  const [, name = "", ttl = "", type = "", value = ""] = /^(\S+) (\d+) (\S+) (.*)$/.exec(line) ?? [];
  return { name, ttl: Number(ttl), type, value };
};

export const printLine = ({ name, ttl, type, value }: SetLine): string => `${name} ${ttl} ${type} ${value}`;

export type SetOfLines = Omit<SetLine, "value"> & { readonly values: readonly string[] };

export const setsOf = (lines: readonly string[]): readonly SetOfLines[] =>
  [...Map.groupBy(lines.map(readLine), ({ name, type }) => `${name} ${type}`).values()].flatMap((alike) => {
    const [first] = alike;
    return first
      ? [{ name: first.name, ttl: first.ttl, type: first.type, values: alike.map(({ value }) => value) }]
      : [];
  });

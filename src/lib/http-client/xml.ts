/**
 * An element without its namespace prefix and its attributes. `text` is trimmed, and empty if there are child elements
 * only.
 */
export type XmlElement = { readonly name: string; readonly text: string; readonly children: readonly XmlElement[] };

/** Characters, unless the caller says otherwise. */
const usualLength = 256 * 1024;
const deepest = 30;

/**
 * Reads what UPnP devices and some services send: elements and text. Undefined if it is not well formed, too long or
 * too deep, or has a document type: without one, no entity can be defined, so a short text never expands to a long one.
 */
export function readXml(text: string, longest = usualLength): XmlElement | undefined {
  if (text.length > longest) return undefined;
  type Open = { readonly tag: string; text: string; readonly children: XmlElement[] };
  const top: Open = { tag: "", text: "", children: [] };
  const open = [top];
  const close = () => {
    const { tag, text, children } = open.pop() ?? top;
    open.at(-1)?.children.push({ name: tag.replace(/^.*:/, ""), text: text.trim(), children });
  };
  let end = 0;
  for (const token of text.matchAll(tokens)) {
    const { cdata, tag, slash, empty, plain } = token.groups ?? {};
    end = token.index + token[0].length;
    if (cdata !== undefined || plain !== undefined) {
      const inner = open.at(-1);
      if (inner) inner.text += cdata ?? unescaped(plain ?? "");
    } else if (tag !== undefined && slash) {
      if (open.length === 1 || open.at(-1)?.tag !== tag) return undefined;
      close();
    } else if (tag !== undefined) {
      if (open.length > deepest) return undefined;
      open.push({ tag, text: "", children: [] });
      if (empty) close();
    }
  }
  // Only one element, nothing left open, and no text around it.
  const isWhole = end === text.length && open.length === 1 && top.children.length === 1 && top.text.trim() === "";
  return isWhole ? top.children[0] : undefined;
}

/** The first element with this name, at any depth. */
export const findElement = (root: XmlElement, name: string): XmlElement | undefined => findElements(root, name)[0];

export const findElements = (root: XmlElement, name: string): readonly XmlElement[] => [
  ...(root.name === name ? [root] : []),
  ...root.children.flatMap((child) => findElements(child, name)),
];

/** The text of the first element with this name, at any depth. */
export const textIn = (root: XmlElement | undefined, name: string): string | undefined =>
  root && findElement(root, name)?.text;

/** The text of a child; undefined if there is no such child. */
export const textOf = (parent: XmlElement, name: string): string | undefined =>
  parent.children.find((child) => child.name === name)?.text;

/** Sticky: stops at the first thing that does not match, such as `<!DOCTYPE`. */
const tokens = new RegExp(
  [
    /<\?[\s\S]*?\?>/,
    /<!--[\s\S]*?-->/,
    /<!\[CDATA\[(?<cdata>[\s\S]*?)\]\]>/,
    /<(?<slash>\/?)(?<tag>[A-Za-z_][\w.:-]*)(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(?<empty>\/?)>/,
    /(?<plain>[^<]+)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gy",
);

const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Routers send a bare `&` in names and URLs; anything but the five known entities and numbers stays unchanged. */
const unescaped = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot|apos));/gi,
    (whole, decimal?: string, hex?: string, word?: string) => {
      if (word !== undefined) return named[word] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );

export const escaped = (text: string): string =>
  text.replaceAll(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
